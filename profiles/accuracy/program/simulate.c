// The simulated device's side: the same programs, with the same arguments.
#define _GNU_SOURCE
#include "accuracy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Holds out that kernel, or all of that program, which is named PROGRAM.cu. False: there is none.
static bool hold_out(Set *set, const char *name)
{
    const char *end = strstr(name, ".cu");
    size_t length = end ? (size_t)(end - name) : 0;
    bool found = false;
    for (size_t i = 0; i < set->count; i++) {
        Kernel *k = &set->kernels[i];
        bool is = end ? strlen(k->program) == length && !strncmp(k->program, name, length)
                      : !strcmp(k->name, name);
        k->held_out |= is;
        found |= is;
    }
    return found;
}

static Kernel *find(Set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (!strcmp(set->kernels[i].name, name)) return &set->kernels[i];
    return NULL;
}

// Of what was measured several times: the lowest of all, the mean of the medians, the highest; and
// the lowest and the highest median.
static json_t *all_of(const json_t *ranges)
{
    double lowest = INFINITY, sum = 0, highest = 0, least = INFINITY, most = 0;
    json_t *range;
    size_t i;
    json_array_foreach(ranges, i, range)
    {
        double median = json_number_value(json_array_get(range, 1));
        lowest = fmin(lowest, json_number_value(json_array_get(range, 0)));
        highest = fmax(highest, json_number_value(json_array_get(range, 2)));
        least = fmin(least, median);
        most = fmax(most, median);
        sum += median;
    }
    return json_pack("[fffff]", lowest, sum / i, highest, least, most);
}

bool set_make(Set *set, json_t *record, const char *held_out)
{
    const char *name;
    json_t *kernel, *list = programs(), *program;
    size_t i;
    void *next;
    *set = (Set){ .record = record };
    json_array_foreach(list, i, program)
        json_object_foreach(json_object_get(record, "kernels"), name,
                            kernel) if (json_equal(json_object_get(kernel, "program"), program)
                                        && set->count < MOST_KERNELS)
            set->kernels[set->count++] = (Kernel){
        .name = name,
        .program = json_string_value(json_object_get(kernel, "program")),
        .held_out = !strncmp(json_string_value(program), "lesson", strlen("lesson")),
        .computes = only_timed(name),
        .microseconds = json_number_value(json_object_get(kernel, "microseconds")),
        .counters = json_object_get(kernel, "counters"),
        .traffic = json_object_get(kernel, "traffic"),
    };
    json_decref(list);

    json_t *ranges;
    for (size_t k = 0; k < set->count; k++)
        json_object_foreach_safe(set->kernels[k].traffic, next, name, ranges)
        {
            json_object_set_new(set->kernels[k].traffic, name, all_of(ranges));
            json_object_set(set->kernels[k].counters, name,
                            json_array_get(json_object_get(set->kernels[k].traffic, name), 1));
        }

    char line[256];
    FILE *file = fopen(held_out, "re");
    if (!file) perror(held_out);
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (*line && *line != '#' && !hold_out(set, line)
            && fprintf(stderr, "%s: no kernel %s was measured\n", held_out, line))
            return fclose(file), false;
    }
    return file && fclose(file) == 0;
}

// A line of what the device reports.
static void take(Set *set, const char *line)
{
    json_t *event = json_loads(line, 0, NULL);
    const char *what = json_string_value(json_object_get(event, "event"));
    const char *name = json_string_value(json_object_get(event, "name"));
    Kernel *kernel = what && name && !strcmp(what, "kernel") ? find(set, name) : NULL;
    if (kernel) {
        kernel->counted = json_deep_copy(json_object_get(event, "counters"));
        json_object_update(kernel->counted, json_object_get(event, "metrics"));
        const char *bound = json_string_value(json_object_get(event, "bound"));
        if (bound) snprintf(kernel->bound, sizeof kernel->bound, "%s", bound);
        kernel->estimates = json_incref(json_object_get(event, "estimates"));
    }
    json_decref(event);
}

// What the program prints comes with the device's report: its lines are "NAME MICROSECONDS
// EXERCISE".
static bool run(Set *set, const char *simulator, const char *program)
{
    Command c;
    char name[256], exercise[64];
    double time;
    command_open(&c, "%s --error-exitcode 0 --report 3 build/accuracy/%s 1 3>&1", simulator,
                 program);
    for (char *line; (line = command_line(&c));) {
        *exercise = 0;
        bool timed = *line != '{' && sscanf(line, "%255s %lf %63[^\n]", name, &time, exercise) >= 2;
        Kernel *kernel = timed ? find(set, name) : NULL;
        if (kernel) {
            kernel->simulated = time;
            strcpy(kernel->exercise, exercise);
        } else if (timed) {
            printf("%s of kernels/%s.cu is not compared: it was not measured on the GPU yet\n",
                   name, program);
        } else take(set, line);
    }
    if (c.status)
        fprintf(stderr, "accuracy: build/accuracy/%s failed on the simulated device\n", program);
    return c.status == 0;
}

bool simulate(Set *set, const char *simulator)
{
    bool good = true;
    json_t *list = programs(), *program;
    size_t k;
    json_array_foreach(list, k, program) good &= run(set, simulator, json_string_value(program));
    json_decref(list);
    for (size_t i = 0; i < set->count; i++)
        if (!set->kernels[i].counted || !set->kernels[i].simulated) {
            fprintf(stderr, "accuracy: %s did not run on the simulated device\n",
                    set->kernels[i].name);
            good = false;
        }
    return good;
}
