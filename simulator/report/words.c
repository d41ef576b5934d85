// The words for places in memory.
#define _GNU_SOURCE
#include "report.h"
#include <inttypes.h>
#include <stdio.h>

#include "base/names.h"
#include "memory/memory.h"
#include "origin.h"

char *report_made(const Allocation *a, char *buffer, size_t size)
{
    Place place;
    buffer[0] = 0;
    if (a->name) snprintf(buffer, size, " of variable %s", a->name);
    else if (a->made_in.line ? (place = a->made_in, true)
                             : origin_place(a->made, MEMORY_CALLERS, &place))
        snprintf(buffer, size, " made at %s:%u", names_base(place.file), place.line);
    return buffer;
}

char *report_freed(const Allocation *a, char *buffer, size_t size)
{
    Place place;
    buffer[0] = 0;
    if (a->unmade_in.line ? (place = a->unmade_in, true)
                          : origin_place(a->unmade, MEMORY_CALLERS, &place))
        snprintf(buffer, size, " at %s:%u", names_base(place.file), place.line);
    return buffer;
}

char *report_beside(const Allocation *a, uint64_t address, char *buffer, size_t size)
{
    char made[256], freed[256] = "", where[96];
    if (a->freed) report_freed(a, freed, sizeof freed);
    if (address < a->base)
        snprintf(where, sizeof where, "%" PRIu64 " bytes before", a->base - address);
    else if (address < a->base + a->size)
        snprintf(where, sizeof where, "at byte %" PRIu64 " of", address - a->base);
    else if (address == a->base + a->size) snprintf(where, sizeof where, "just past the end of");
    else
        snprintf(where, sizeof where, "%" PRIu64 " bytes past the end of",
                 address - a->base - a->size);
    if (a->name)
        snprintf(buffer, size, "%s the %" PRIu64 "-byte variable %s", where, a->size, a->name);
    else
        snprintf(buffer, size, "%s the %" PRIu64 "-byte allocation%s%s%s", where, a->size,
                 report_made(a, made, sizeof made), a->freed ? ", freed" : "", freed);
    return buffer;
}
