// They are few, and asked for once a module.
#include <string.h>

#include "system_functions.h"

static const char *const names[] = {
#define SYSTEM_FUNCTION(name, handler) name,
#include "system_functions.def"
};

s32 system_function(const char *name)
{
    for (u32 n = 0; n < sizeof names / sizeof *names; n++)
        if (!strcmp(name, names[n])) return (s32)n;
    return -1;
}
