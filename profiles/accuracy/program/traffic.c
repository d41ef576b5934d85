// What L2 and DRAM move differs from run to run of the same kernel, so it is measured several
// times, and apart from all else: to count much ncu runs a kernel again and again, and what it does
// in between reaches L2 and DRAM while the kernel runs. On an H200 that is 2.4 MB written by each
// kernel that fills L2, even if it only reads, and of L2's sectors a fifth fewer read, or a tenth
// more missed (local_even, write_word_of_sector). Each of these groups takes one pass, as ncu says
// without --csv. The programs empty the caches before each launch, as they do when they are timed,
// and ncu does so again. GPUs of one kind differ, too: what was measured before, on another one
// maybe, stays in the record.
#define _GNU_SOURCE
#include "accuracy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 15 };

static const char *const groups[] = {
    "dram__bytes_read.sum,dram__bytes_write.sum",
    "lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_atom.sum,lts__t_sectors_op_red.sum",
    "lts__t_sectors_lookup_hit.sum",
    "lts__t_sectors_lookup_miss.sum",
};

// One of the program's kernels that ncu looks at.
static bool is_of(const char *name, json_t *kernel, const char *program)
{
    return !strcmp(json_string_value(json_object_get(kernel, "program")), program)
        && !only_timed(name);
}

// For ncu: the program's kernels, and not what comes between them.
static char *names_of(json_t *kernels, const char *program)
{
    char *list = NULL;
    size_t size;
    const char *name, *between = "";
    json_t *kernel;
    FILE *out = open_memstream(&list, &size);
    fputs("regex:^(", out);
    json_object_foreach(kernels, name, kernel) if (is_of(name, kernel, program))
    {
        fprintf(out, "%s%s", between, name);
        between = "|";
    }
    fputs(")$", out);
    fclose(out);
    return list;
}

// Adds the numbers of all launches to those of each kernel: "numbers": {counter: [number, ...]}.
static bool count(json_t *kernels, const char *program, const char *group)
{
    Command c;
    Number n;
    int rows = 0;
    char *names = names_of(kernels, program);
    command_open(&c,
                 "%s --cache-control all --kernel-name '%s' --metrics %s build/accuracy/%s %d 2>&1",
                 profiler, names, group, program, RUNS);
    free(names);
    for (char *line; (line = command_line(&c));) {
        if (!number_in(line, &n)) continue;
        json_t *of = json_object_get(json_object_get(kernels, n.kernel), "numbers"),
               *numbers = json_object_get(of, n.counter);
        if (!numbers) json_object_set_new(of, n.counter, numbers = json_array());
        json_array_append_new(numbers, json_of(n.value));
        rows++;
    }
    if (c.status || !rows)
        fprintf(stderr, "accuracy: ncu counted nothing in build/accuracy/%s\n", program);
    return !c.status && rows;
}

static int by_size(const void *a, const void *b)
{
    double x = json_number_value(*(json_t *const *)a), y = json_number_value(*(json_t *const *)b);
    return (x > y) - (x < y);
}

// The lowest, the middle one and the highest of the last RUNS: what came before them only prepared
// something.
static json_t *range_of(const json_t *numbers)
{
    json_t *run[RUNS];
    size_t all = json_array_size(numbers), first = all > RUNS ? all - RUNS : 0, some = all - first;
    for (size_t i = 0; i < some; i++) run[i] = json_array_get(numbers, first + i);
    qsort(run, some, sizeof *run, by_size);
    return json_pack("[OOO]", run[0], run[some / 2], run[some - 1]);
}

// What an object has under that name; `otherwise`, if it has nothing yet.
static json_t *member(json_t *object, const char *name, json_t *otherwise)
{
    if (!json_object_get(object, name)) json_object_set(object, name, otherwise);
    json_decref(otherwise);
    return json_object_get(object, name);
}

static bool count_all(json_t *kernels, const char *program)
{
    const char *name, *counter;
    json_t *kernel, *numbers;
    bool good = true, any = false;
    json_object_foreach(kernels, name, kernel) if (is_of(name, kernel, program)) any =
        json_object_set_new(kernel, "numbers", json_object()) == 0;
    for (size_t g = 0; any && g < sizeof groups / sizeof *groups; g++)
        good = good && count(kernels, program, groups[g]);
    json_object_foreach(kernels, name, kernel) if (is_of(name, kernel, program))
    {
        json_t *traffic = member(kernel, "traffic", json_object());
        json_object_foreach(json_object_get(kernel, "numbers"), counter, numbers)
            json_array_append_new(member(traffic, counter, json_array()), range_of(numbers));
        json_object_del(kernel, "numbers");
    }
    return good;
}

bool measure_traffic(json_t *record)
{
    json_t *here = look(), *list = programs(), *program;
    size_t i;
    bool good = here;
    if (good && !json_equal(json_object_get(here, "device"), json_object_get(record, "device")))
        good = !fprintf(stderr, "accuracy: the record is of another GPU\n");
    json_array_foreach(list, i, program) good =
        good && count_all(json_object_get(record, "kernels"), json_string_value(program));
    json_decref(list);
    if (good) {
        json_object_set_new(here, "runs", json_integer(RUNS));
        json_array_append(member(record, "traffic", json_array()), here);
    }
    json_decref(here);
    return good;
}
