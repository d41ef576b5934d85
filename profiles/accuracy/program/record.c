// The record as a file: what was measured is a table, a row a kernel, whose columns are named once.
//
//   {"date", "device", "driver", "ncu", "toolkit",
//    "traffic": [{"date", "runs", ...}, ...],
//    "counters": [NAME, ...], "traffic_counters": [NAME, ...],
//    "kernels": {NAME: {"program", "microseconds",
//                       "counters": [a number a name, or null],
//                       "traffic": [the ranges of each name, or null]},
//                NAME: {"program", "microseconds", "date"}}}        of those that were only timed
//
// In memory a kernel's "counters" and "traffic" are objects, by name.
#define _GNU_SOURCE
#include "accuracy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The columns of a kernel's row, and what names them.
static const struct {
    const char *member, *names;
} tables[] = { { "counters", "counters" }, { "traffic", "traffic_counters" } };
enum { TABLES = sizeof tables / sizeof *tables };

// Those that were only timed have a date, and no other columns.
static bool is_dated(const json_t *kernel) { return json_object_get(kernel, "date"); }

// ---- Reading

// A row as an object by name. NULL: it has not as many columns as there are names.
static json_t *named(const json_t *row, const json_t *names)
{
    if (!json_is_array(row) || json_array_size(row) != json_array_size(names)) return NULL;
    json_t *object = json_object(), *value;
    size_t i;
    json_array_foreach(row, i, value) if (!json_is_null(value))
        json_object_set(object, json_string_value(json_array_get(names, i)), value);
    return object;
}

json_t *record_read(const char *from)
{
    json_error_t error;
    json_t *record = json_load_file(from, 0, &error), *kernel;
    const char *name;
    if (!record) fprintf(stderr, "%s:%d: %s\n", from, error.line, error.text);
    for (int t = 0; t < TABLES; t++) {
        const json_t *names = json_object_get(record, tables[t].names);
        json_object_foreach(json_object_get(record, "kernels"), name, kernel)
        {
            if (is_dated(kernel)) continue;
            json_t *object = named(json_object_get(kernel, tables[t].member), names);
            if (object && json_object_set_new(kernel, tables[t].member, object) == 0) continue;
            fprintf(stderr, "%s: %s has no row of \"%s\", or one of another length\n", from, name,
                    tables[t].member);
            return json_decref(record), NULL;
        }
    }
    for (int t = 0; t < TABLES; t++) json_object_del(record, tables[t].names);
    return record;
}

// ---- Writing

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The keys of an object as a list, in alphabetical order.
static json_t *sorted_keys(const json_t *object)
{
    const char **keys = calloc(json_object_size(object) + 1, sizeof *keys), *key;
    size_t count = 0;
    json_t *list = json_array(), *value;
    json_object_foreach((json_t *)object, key, value) keys[count++] = key;
    qsort(keys, count, sizeof *keys, by_text);
    for (size_t i = 0; i < count; i++) json_array_append_new(list, json_string(keys[i]));
    free(keys);
    return list;
}

// All names that any kernel has in a table.
static json_t *names_in(const json_t *kernels, const char *member)
{
    const char *name;
    json_t *all = json_object(), *kernel;
    json_object_foreach((json_t *)kernels, name, kernel)
        json_object_update(all, json_object_get(kernel, member));
    json_t *names = sorted_keys(all);
    json_decref(all);
    return names;
}

// A kernel's values of one table in the order of the names.
static json_t *row_of(const json_t *values, const json_t *names)
{
    json_t *row = json_array(), *name;
    size_t i;
    json_array_foreach(names, i, name)
    {
        json_t *value = json_object_get(values, json_string_value(name));
        json_array_append_new(row, value ? json_incref(value) : json_null());
    }
    return row;
}

// The file's form of a record, in the file's order.
static json_t *file_of(const json_t *record)
{
    static const char *const head[] = { "device", "date", "driver", "toolkit", "ncu", "traffic" };
    const json_t *kernels = json_object_get(record, "kernels");
    json_t *file = json_object(), *rows = json_object(), *order = sorted_keys(kernels), *name;
    size_t i;
    for (i = 0; i < sizeof head / sizeof *head; i++)
        if (json_object_get(record, head[i]))
            json_object_set(file, head[i], json_object_get(record, head[i]));
    for (int t = 0; t < TABLES; t++)
        json_object_set_new(file, tables[t].names, names_in(kernels, tables[t].member));
    json_array_foreach(order, i, name)
    {
        const json_t *kernel = json_object_get(kernels, json_string_value(name));
        json_t *row = json_pack("{sO sO}", "program", json_object_get(kernel, "program"),
                                "microseconds", json_object_get(kernel, "microseconds"));
        if (is_dated(kernel)) json_object_set(row, "date", json_object_get(kernel, "date"));
        for (int t = 0; t < TABLES && !is_dated(kernel); t++)
            json_object_set_new(row, tables[t].member,
                                row_of(json_object_get(kernel, tables[t].member),
                                       json_object_get(file, tables[t].names)));
        json_object_set_new(rows, json_string_value(name), row);
    }
    json_decref(order);
    json_object_set_new(file, "kernels", rows);
    return file;
}

// Has it numbers and words alone?
static bool is_flat(const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key,
                        value) if (json_is_object(value) || json_is_array(value)) return false;
    return json_is_object(object);
}

// A line a member, down to so many levels, and a line for an object of numbers and words.
static void lay_out(FILE *out, const json_t *json, int levels, int indent)
{
    const char *key, *between = "\n";
    json_t *value;
    size_t i;
    if (levels == 0 || is_flat(json) || !(json_array_size(json) || json_object_size(json))) {
        json_dumpf(json, out, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
        return;
    }
    fputc(json_is_array(json) ? '[' : '{', out);
    json_array_foreach(json, i, value)
    {
        fprintf(out, "%s%*s", between, indent + 1, "");
        lay_out(out, value, levels - 1, indent + 1);
        between = ",\n";
    }
    json_object_foreach((json_t *)json, key, value)
    {
        fprintf(out, "%s%*s\"%s\": ", between, indent + 1, "", key);
        lay_out(out, value, levels - 1, indent + 1);
        between = ",\n";
    }
    fprintf(out, "\n%*s%c", indent, "", json_is_array(json) ? ']' : '}');
}

bool record_write(const json_t *record, const char *to)
{
    FILE *out = fopen(to, "we");
    if (!out) return false;
    json_t *file = file_of(record);
    lay_out(out, file, 3, 0);
    fputc('\n', out);
    json_decref(file);
    bool good = !ferror(out);
    return fclose(out) == 0 && good;
}
