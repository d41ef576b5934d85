// The GPU's side. ncu empties the caches before each of its passes over a kernel, and the programs
// do so before each launch that they time; so both see a kernel whose data is in DRAM.
#define _GNU_SOURCE
#include "accuracy.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

json_t *programs(void)
{
    struct dirent **files;
    int count = scandir("profiles/accuracy/kernels", &files, NULL, by_name);
    json_t *names = json_array();
    for (int i = 0; i < count; i++) {
        char *end = strstr(files[i]->d_name, ".cu");
        if (end && !end[3])
            json_array_append_new(names,
                                  json_stringn(files[i]->d_name, (size_t)(end - files[i]->d_name)));
        free(files[i]);
    }
    if (count >= 0) free(files);
    return names;
}

// The first line of a command, or NULL if it fails.
static json_t *first_line(const char *command)
{
    Command c;
    json_t *first = NULL;
    command_open(&c, "%s", command);
    for (char *line; (line = command_line(&c));)
        if (!first) first = json_string(line);
    if (c.status && first) {
        json_decref(first);
        first = NULL;
    }
    return first;
}

json_t *look(void)
{
    char date[64];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    json_t *record =
        json_pack("{ss so* so* so* so*}", "date", date, "device",
                  first_line("nvidia-smi --query-gpu=name --format=csv,noheader 2>&1"), "driver",
                  first_line("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>&1"),
                  "toolkit", first_line("nvcc --version | sed -n 's/.*, V//p'"), "ncu",
                  first_line("ncu --version 2>&1 | sed -n 's/^Version \\([0-9.]*\\).*/\\1/p'"));
    if (json_object_get(record, "device") && json_object_get(record, "ncu")) return record;
    fprintf(stderr, "accuracy: no %s here\n",
            json_object_get(record, "device") ? "ncu (Nsight Compute)" : "GPU");
    json_decref(record);
    return NULL;
}

// What ncu is asked for: all that the simulated device counts in a kernel, and what helps those who
// work on its model; what this ncu does not know is left out.
static char *wanted(const char *simulator)
{
    Command c;
    json_t *known = json_object(), *names = json_object();
    command_open(&c, "ncu --query-metrics 2>&1");
    for (char *line; (line = command_line(&c));)
        json_object_set_new(known, strtok(line, " ") ? line : "", json_true());

    command_open(&c,
                 "{ cat profiles/accuracy/counters.txt; %s --report 3 build/accuracy/copy 0 3>&1 "
                 ">/dev/null |"
                 " grep -o '\"[a-z0-9_]*__[a-z0-9_.]*\"' | tr -d '\"'; } | sort -u",
                 simulator);
    for (char *line; (line = command_line(&c));) {
        char *end = strchrnul(line, '.'), kept = *end;
        *end = 0;
        bool knows = json_object_get(known, line)
                  || (!strncmp(line, "launch__", 8) && strcmp(line, "launch__count"));
        *end = kept;
        if (knows && *line != '#') json_object_set_new(names, line, json_true());
    }
    size_t room = 1;
    const char *name;
    json_t *unused;
    json_object_foreach(names, name, unused) room += strlen(name) + 1;
    char *list = calloc(room, 1), *at = list;
    json_object_foreach(names, name, unused) at += sprintf(at, "%s%s", at == list ? "" : ",", name);
    json_decref(known);
    json_decref(names);
    return list;
}

static json_t *entry(json_t *kernels, const char *kernel, const char *program)
{
    json_t *found = json_object_get(kernels, kernel);
    if (!found) {
        found = json_pack("{ss s{}}", "program", program, "counters");
        json_object_set_new(kernels, kernel, found);
    }
    return found;
}

// All counters of one program under ncu, of the kernels that were timed; of several launches of
// one, the last's.
static bool profile(json_t *kernels, const char *program, const char *names)
{
    Command c;
    Number n;
    int rows = 0;
    command_open(&c, "%s --cache-control all --metrics %s build/accuracy/%s 0 2>&1", profiler,
                 names, program);
    for (char *line; (line = command_line(&c));)
        if (number_in(line, &n)) {
            json_object_set_new(json_object_get(json_object_get(kernels, n.kernel), "counters"),
                                n.counter, json_of(n.value));
            rows++;
        }
    if (c.status || !rows)
        fprintf(stderr, "accuracy: ncu counted nothing in build/accuracy/%s\n", program);
    return !c.status && rows;
}

bool only_timed(const char *kernel)
{
    static const char *const grids[] = { "_few", "_wave", "_waves" };
    const char *end = strrchr(kernel, '_');
    for (size_t g = 0; end && g < sizeof grids / sizeof *grids; g++)
        if (!strcmp(end, grids[g])) return true;
    return false;
}

static bool has_program(const json_t *kernels, const char *program, bool timed)
{
    const char *name;
    json_t *kernel;
    json_object_foreach(
        (json_t *)kernels, name,
        kernel) if (!strcmp(json_string_value(json_object_get(kernel, "program")), program)
                    && (!timed || only_timed(name))) return true;
    return false;
}

static bool time_kernels(json_t *kernels, const char *program, int rounds)
{
    Command c;
    char name[256];
    double time;
    int rows = 0;
    command_open(&c, "build/accuracy/%s %d", program, rounds);
    for (char *line; (line = command_line(&c));)
        if (sscanf(line, "%255s %lf", name, &time) == 2) {
            json_object_set_new(entry(kernels, name, program), "microseconds", json_real(time));
            rows++;
        }
    if (c.status || !rows) fprintf(stderr, "accuracy: build/accuracy/%s failed\n", program);
    return !c.status && rows;
}

// Those that are only timed have a date in place of counters.
static void date(json_t *kernels, json_t *today)
{
    const char *name;
    json_t *kernel;
    json_object_foreach(kernels, name, kernel) if (only_timed(name))
        json_object_set(kernel, "date", today);
}

json_t *measure(const char *simulator, int rounds)
{
    json_t *record = look(), *kernels = json_object(), *list = programs(), *program;
    char *names = record ? wanted(simulator) : NULL;
    bool good = record;
    size_t i;
    json_array_foreach(list, i, program)
    {
        const char *p = json_string_value(program);
        good = good && time_kernels(kernels, p, rounds)
            && (has_program(kernels, p, true) || profile(kernels, p, names));
    }
    json_decref(list);
    free(names);
    if (record) date(kernels, json_object_get(record, "date"));
    if (record) json_object_set_new(record, "kernels", kernels);
    else json_decref(kernels);
    if (good) return record;
    json_decref(record);
    return NULL;
}

bool measure_times(json_t *record, int rounds)
{
    json_t *here = look(), *list = programs(), *program,
           *kernels = json_object_get(record, "kernels"), *kernel;
    const char *name;
    size_t i;
    bool good = here;
    if (good && !json_equal(json_object_get(here, "device"), json_object_get(record, "device")))
        good = !fprintf(stderr, "accuracy: the record is of another GPU\n");
    json_array_foreach(list, i, program)
    {
        json_t *new = json_object();
        const char *p = json_string_value(program);
        good = good && (has_program(kernels, p, false) || time_kernels(new, p, rounds));
        date(new, json_object_get(here, "date"));
        json_object_foreach(new, name, kernel) if (good && only_timed(name))
            json_object_set(kernels, name, kernel);
        json_decref(new);
    }
    json_decref(list);
    json_decref(here);
    return good;
}
