#define _GNU_SOURCE
#include "log.h"
#include "class.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *path, *last_path;
static json_t *lines, *pieces; // pieces: the hashes of what was cut since the last whole line
static char chain[HASH_DIGITS + 1];
static size_t cuts;
static size_t first_piece; // the number of the first of them in the file
static bool open_end;      // the file does not end with a newline

static bool amiss(size_t number, const char *words)
{
    fprintf(stderr,
            "%s:%zu: %s. Nothing was done. Put the log back as it was, from a copy; its lines are "
            "written by these commands alone.\n",
            path, number, words);
    return false;
}

// The chain of a line (which has none itself) after the one before.
static void chain_of(const char *before, const json_t *line, char text[HASH_DIGITS + 1])
{
    char *words = json_dumps(line, JSON_COMPACT | JSON_SORT_KEYS);
    char *all = text_format("%s %s", before, words);
    secret_keyed("log", all, text, HASH_DIGITS);
    free(words);
    free(all);
}

// The object of a line that follows the last one, without its chain; NULL: it is none.
static json_t *read_line(const char *text, size_t count, char here[HASH_DIGITS + 1])
{
    json_t *line = json_loadb(text, count, JSON_REJECT_DUPLICATES, NULL);
    const char *said = json_string_value(json_object_get(line, "chain"));
    char *is = said ? strdup(said) : NULL;
    json_object_del(line, "chain");
    bool good =
        is && (size_t)json_integer_value(json_object_get(line, "n")) == json_array_size(lines) + 1;
    if (good) chain_of(chain, line, here);
    good = good && strcmp(is, here) == 0;
    free(is);
    if (good) return line;
    json_decref(line);
    return NULL;
}

// Takes a line of the file. False: it should not be there.
static bool take(const char *text, size_t count, bool whole, size_t number)
{
    char here[HASH_DIGITS + 1];
    json_t *line = read_line(text, count, here);
    if (!line) {
        if (!json_array_size(pieces)) first_piece = number;
        secret_hash(text, count, here);
        json_array_append_new(pieces, json_string(here));
        open_end = !whole;
        return true;
    }
    const json_t *lost = json_object_get(line, "lost");
    if (json_array_size(pieces) && !json_equal(pieces, lost))
        return amiss(first_piece,
                     "this line is not as it was written, or the line before it is gone");
    if (lost && !json_array_size(pieces)) return amiss(number, "a line before this one is missing");
    cuts += json_array_size(pieces);
    json_array_clear(pieces);
    json_array_append_new(lines, line);
    memcpy(chain, here, sizeof chain);
    open_end = !whole;
    return true;
}

// Where log.last says that the log ends. A run that was killed may have written one line more.
static bool ends_as_noted(size_t number)
{
    size_t count = json_array_size(lines), noted = 0;
    char digits[HASH_DIGITS + 1] = "", before[HASH_DIGITS + 1] = "";
    FILE *f = fopen(last_path, "re");
    bool there = f && fscanf(f, "%zu %64[0-9a-f]", &noted, digits) == 2;
    if (f) fclose(f);
    if (!there && count <= 1) return true;
    for (size_t n = 0; n < noted && n < count; n++)
        chain_of(before, json_array_get(lines, n), before);
    if (there && noted + 1 >= count && strcmp(before, digits) == 0) return true;
    return amiss(number, "lines that were here are missing, or log.last beside it is");
}

static bool read_lines(FILE *f)
{
    char *text = NULL;
    size_t room = 0, number = 0;
    ssize_t count;
    bool good = true;
    while (good && (count = getline(&text, &room, f)) > 0) {
        bool whole = text[count - 1] == '\n';
        good = take(text, (size_t)(count - whole), whole, ++number);
    }
    free(text);
    if (ferror(f)) return file_amiss(path);
    // What a kill leaves has no newline behind it: a whole line that does not fit was changed.
    if (good && json_array_size(pieces) && !open_end)
        return amiss(first_piece,
                     "this line is not as it was written, or the line before it is gone");
    return good && ends_as_noted(number);
}

bool log_open(const char *grades)
{
    free(path);
    free(last_path);
    json_decref(lines);
    json_decref(pieces);
    path = text_format("%s/log.jsonl", grades);
    last_path = text_format("%s/log.last", grades);
    lines = json_array();
    pieces = json_array();
    *chain = 0;
    cuts = 0;
    open_end = false;
    FILE *f = fopen(path, "re");
    if (!f && errno != ENOENT) return file_amiss(path);
    bool good =
        f ? read_lines(f)
          : ends_as_noted(1) && (access(last_path, F_OK) < 0 || amiss(1, "the log is missing"));
    if (f) fclose(f);
    if (good && json_array_size(pieces))
        fprintf(stderr,
                "%s: the last line was cut short when it was written, and counts for "
                "nothing. What it should have said was not done, or not wholly: look "
                "whether the last command's work is there.\n",
                path);
    return good;
}

const json_t *log_lines(void) { return lines; }

size_t log_cuts(void) { return cuts + json_array_size(pieces); }

const json_t *log_last(const char *what, const char *pseudonym, const char *lesson)
{
    for (size_t n = json_array_size(lines); n-- > 0;) {
        const json_t *line = json_array_get(lines, n);
        const char *is = json_string_value(json_object_get(line, "what")),
                   *of = json_string_value(json_object_get(line, "student")),
                   *in = json_string_value(json_object_get(line, "lesson"));
        if (is && of && strcmp(is, what) == 0 && strcmp(of, pseudonym) == 0
            && (!lesson || (in && strcmp(in, lesson) == 0)))
            return line;
    }
    return NULL;
}

// ---- Writing

static bool write_last(FILE *f, void *what)
{
    (void)what;
    return fprintf(f, "%zu %s\n", json_array_size(lines), chain) > 0;
}

static bool append(const char *text, size_t count)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ssize_t written = file < 0 ? -1 : write(file, text, count);
    if (written >= 0 && (size_t)written < count) errno = ENOSPC;
    bool good = written == (ssize_t)count && fsync(file) == 0;
    if (file >= 0) close(file);
    return good || file_amiss(path);
}

static bool add(json_t *line)
{
    char now[32];
    time_t seconds = time(NULL);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
    json_object_set_new(line, "n", json_integer((json_int_t)json_array_size(lines) + 1));
    json_object_set_new(line, "time", json_string(now));
    char here[HASH_DIGITS + 1];
    chain_of(chain, line, here);
    json_array_append(lines, line);
    json_t *whole = json_copy(line);
    json_object_set_new(whole, "chain", json_string(here));
    char *words = json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS);
    char *text = text_format("%s%s\n", open_end ? "\n" : "", words);
    bool good = append(text, strlen(text));
    if (good) {
        open_end = false;
        memcpy(chain, here, sizeof chain);
        good = file_write(last_path, write_last, NULL) || file_amiss(last_path);
    }
    json_decref(whole);
    free(words);
    free(text);
    return good;
}

bool log_add(json_t *line)
{
    bool good = true;
    if (json_array_size(pieces)) {
        json_t *cut = json_pack("{ss sO}", "what", "cut", "lost", pieces);
        cuts += json_array_size(pieces);
        good = add(cut);
        json_decref(cut);
        json_array_clear(pieces);
    }
    good = good && line && add(line);
    json_decref(line);
    return good;
}
