// `make accuracy`, in two steps, and what is a part of the first:
//
//     accuracy measure RECORD.json [ROUNDS]    measures the kernels on this machine's GPU
//     accuracy traffic RECORD.json             measures once more what L2 and DRAM move, of the
//                                              kernels of that record, and adds it
//     accuracy time RECORD.json [ROUNDS]       times kernels that compute, of programs of which
//                                              that record has none, and adds them
//     accuracy compare RECORD.json TABLE.md ERRORS.def
//                                              runs them on the simulated device, and writes the
//                                              two side by side, and the errors by what bounds the
//                                              times; fails when a bound of
//                                              profiles/accuracy/bounds.cfg is exceeded
//
// Both run in the root of the repository, with the programs built in build/accuracy/.
#include "accuracy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 21 };

static const char simulator[] = "simulator/run";

static int do_write(json_t *record, const char *to)
{
    if (!record_write(record, to)) {
        perror(to);
        return 1;
    }
    printf("%s: %zu kernels\n", to, json_object_size(json_object_get(record, "kernels")));
    json_decref(record);
    return 0;
}

static int do_measure(json_t *record, const char *to)
{
    return record && measure_traffic(record) ? do_write(record, to) : 1;
}

static int do_time(const char *to, int rounds)
{
    json_t *record = record_read(to);
    return record && measure_times(record, rounds) ? do_write(record, to) : 1;
}

static int do_compare(const char *from, const char *to, const char *errors)
{
    static Set set;
    json_t *record = record_read(from);
    if (!record || !set_make(&set, record, "profiles/accuracy/held-out.txt")
        || !simulate(&set, simulator) || !errors_write(&set, errors))
        return 1;
    return table_write(&set, "profiles/accuracy/why.txt", "profiles/accuracy/shortfalls.md",
                       "profiles/accuracy/bounds.cfg", to)
        != 0;
}

int main(int count, char **words)
{
    if (count >= 3 && !strcmp(words[1], "measure"))
        return do_measure(measure(simulator, count > 3 ? atoi(words[3]) : ROUNDS), words[2]);
    if (count == 3 && !strcmp(words[1], "traffic"))
        return do_measure(record_read(words[2]), words[2]);
    if (count >= 3 && !strcmp(words[1], "time"))
        return do_time(words[2], count > 3 ? atoi(words[3]) : ROUNDS);
    if (count == 5 && !strcmp(words[1], "compare")) return do_compare(words[2], words[3], words[4]);
    fprintf(stderr, "usage: accuracy measure RECORD.json [ROUNDS]\n       accuracy traffic "
                    "RECORD.json\n       accuracy time RECORD.json [ROUNDS]\n"
                    "       accuracy compare RECORD.json TABLE.md ERRORS.def\n");
    return 2;
}
