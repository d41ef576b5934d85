// CUDA_VISIBLE_DEVICES: numbers of the machine's devices, in the order in which the process counts
// them. As on an H200 (driver 580), the list ends at the first entry that names no device, and a
// device that is named twice is an error.
#include "machine.h"
#include "memory/memory.h"
#include "serve.h"
#include <ctype.h>
#include <stdlib.h>

static u32 read_list(const char *text, u32 most, bool *twice)
{
    u32 count = 0;
    for (; count < most; text++) {
        char *end;
        long number = strtol(text, &end, 10);
        while (isspace((unsigned char)*end)) end++;
        if (end == text || number < 0 || number >= (long)most || (*end && *end != ',')) break;
        for (u32 n = 0; n < count; n++) *twice |= device.number[n] == (u32)number;
        if (*twice) break;
        device.number[count++] = (u32)number;
        text = end;
        if (!*end) break;
    }
    return count;
}

int visible_choose(const char *text)
{
    bool twice = false;
    u64 *used[MOST_DEVICES] = { 0 };
    for (u32 d = 0; d < device.count; d++) device.number[d] = d;
    if (text) device.count = read_list(text, device.count, &twice);
    for (u32 d = 0; d < device.count; d++) used[d] = &machine->used[device.number[d]];
    memory_count_in(used);
    return twice ? WIRE_INVALID_DEVICE : device.count ? 0 : WIRE_NO_DEVICE;
}

u32 visible_of(u32 number)
{
    u32 d = 0;
    while (d < device.count && device.number[d] != number) d++;
    return d;
}
