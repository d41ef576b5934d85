// The free space of a device's heap for kernels' malloc.
#pragma once
#include "base/base.h"

typedef struct HeapRoom HeapRoom;

// The space of an allocation: `count` slots of a node, from `first` on.
typedef struct HeapRun {
    struct HeapNode *node;
    u32 first, count;
} HeapRun;

HeapRoom *heap_room_make(u64 limit);
void heap_room_free(HeapRoom *);

// False: there is no contiguous space for so many bytes.
bool heap_room_take(HeapRoom *, u64 bytes, HeapRun *to);
void heap_room_give(HeapRoom *, HeapRun);
