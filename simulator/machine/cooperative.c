// The workspace of grid.sync(), as the toolkit's cooperative_groups/details/driver_abi.h has it.
#include <stdio.h>
#include <stdlib.h>

#include "cooperative.h"
#include "memory.h"

typedef struct Workspace { u32 bytes, barrier; } Workspace;

u64 cooperative_workspace(u32 device)
{
    static Workspace *spaces[MOST_DEVICES];
    Workspace **space = &spaces[device];
    if (!*space) {
        const Allocation *a = memory_alloc(sizeof **space, 256, MEMORY_STRING, device, NULL);
        if (!a) {
            fprintf(stderr, "simulator: no memory left for a cooperative launch\n");
            exit(1);
        }
        *space = (Workspace *)a->base;
        memory_define(a->base, a->size);
    }
    **space = (Workspace){ .bytes = sizeof **space };
    return (u64)*space;
}
