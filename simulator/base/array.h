// A growing array of items of any type, counted in bytes.
#pragma once
#include <stddef.h>

#include "base.h"
#include "need.h"

typedef struct Array {
    void *items;
    size_t count, room; // bytes
} Array;

// Makes room for so many more bytes. Items may move.
static inline void *array_add(Array *a, size_t bytes)
{
    if (a->count + bytes > a->room) {
        a->room = a->room ? 2 * a->room : 4096;
        while (a->count + bytes > a->room) a->room *= 2;
        a->items = need(realloc(a->items, a->room));
    }
    a->count += bytes;
    return (u8 *)a->items + a->count - bytes;
}

#define EACH_OF(T, name, array)                                                                    \
    for (T *name = (array)->items, *end_ = name + (array)->count / sizeof(T); name < end_; name++)
