#define _GNU_SOURCE
#include "class.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(const char *words, size_t digits)
{
    for (size_t n = 0; n < digits; n++)
        if (!isdigit((unsigned char)words[n])) return false;
    return true;
}

// The seconds east of Greenwich of "Z", "+02:00", "-0730" or "+02".
static bool read_zone(const char *words, long *east)
{
    *east = 0;
    if (strcmp(words, "Z") == 0) return true;
    if ((*words != '+' && *words != '-') || !is_number(words + 1, 2)) return false;
    const char *rest = words + 3;
    rest += *rest == ':';
    if (*rest && (!is_number(rest, 2) || rest[2])) return false;
    long hours = strtol((char[]){ words[1], words[2], 0 }, NULL, 10),
         minutes = *rest ? strtol(rest, NULL, 10) : 0;
    *east = (*words == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60 && (*rest || rest[-1] != ':');
}

bool time_read(const char *words, time_t *time, long *east)
{
    static const char form[] = "0000-00-00T00:00";
    struct tm tm = { 0 };
    size_t n = 0;
    for (; form[n]; n++) {
        bool fits = form[n] == '0' ? isdigit((unsigned char)words[n]) != 0
                  : form[n] == 'T' ? words[n] == 'T' || words[n] == ' '
                                   : words[n] == form[n];
        if (!fits) return false;
    }
    tm.tm_year = atoi(words) - 1900;
    tm.tm_mon = atoi(words + 5) - 1;
    tm.tm_mday = atoi(words + 8);
    tm.tm_hour = atoi(words + 11);
    tm.tm_min = atoi(words + 14);
    if (words[n] == ':' && is_number(words + n + 1, 2)) {
        tm.tm_sec = atoi(words + n + 1);
        n += 3;
        if (words[n] == '.' && is_number(words + n + 1, 1))
            for (n++; isdigit((unsigned char)words[n]);) n++;
    }
    n += words[n] == ' ';
    struct tm asked = tm;
    *time = timegm(&tm);
    bool is_there = tm.tm_mday == asked.tm_mday && tm.tm_mon == asked.tm_mon
                 && tm.tm_hour == asked.tm_hour && tm.tm_min == asked.tm_min
                 && tm.tm_sec == asked.tm_sec; // as the 31st of February is not
    if (!is_there || !read_zone(words + n, east)) return false;
    *time -= *east;
    return *time > 0;
}

void time_write(time_t time, long east, char words[TIME_BYTES])
{
    time_t there = time + east;
    size_t n = strftime(words, TIME_BYTES, "%Y-%m-%d %H:%M UTC", gmtime(&there));
    if (east)
        snprintf(words + n, TIME_BYTES - n, "%c%02ld:%02ld", east < 0 ? '-' : '+',
                 labs(east) / 3600, labs(east) / 60 % 60);
}
