// The workspace of grid.sync(), laid out as in the toolkit's
// cooperative_groups/details/driver_abi.h.
#include <stdio.h>
#include <stdlib.h>

#include "cooperative.h"
#include "memory/memory.h"

typedef struct Workspace {
    u32 bytes, barrier;
} Workspace;

static struct Space {
    struct Space *next;
    Workspace *at;
    u32 device;
    bool taken;
} * spaces;

static struct Space *make_space(u32 device)
{
    struct Space *s = malloc(sizeof *s);
    const Allocation *a = memory_alloc(sizeof *s->at, 256, MEMORY_STRING, device, NULL);
    if (!s || !a) {
        fprintf(stderr, "simulator/run: no memory left for a cooperative launch\n");
        exit(1);
    }
    memory_define(a->base, a->size);
    *s = (struct Space){ spaces, (Workspace *)a->base, device, false };
    return spaces = s;
}

u64 cooperative_take(u32 device)
{
    struct Space *s = spaces;
    while (s && (s->taken || s->device != device)) s = s->next;
    if (!s) s = make_space(device);
    s->taken = true;
    *s->at = (Workspace){ .bytes = sizeof *s->at };
    return (u64)s->at;
}

void cooperative_give_back(u64 workspace)
{
    for (struct Space *s = spaces; s; s = s->next)
        if ((u64)s->at == workspace) s->taken = false;
}
