// The words that reports are made of: names, and places in memory.
#define _GNU_SOURCE
#include "report.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/memory.h"
#include "origin.h"

const char *report_base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

// What a mangled name begins with, its namespaces and its own: _ZN7cutlass6KernelI... is
// cutlass::Kernel<...>.
static char *outer_names(const char *mangled)
{
    char *names = strdup(mangled), *to = names;
    const char *at = mangled + 2;
    bool nested = *at == 'N';
    for (at += nested; *at >= '1' && *at <= '9';) {
        char *word;
        size_t length = strtoul(at, &word, 10);
        if (length > strlen(word)) break;
        if (to > names) to = stpcpy(to, "::");
        to = mempcpy(to, word, length);
        at = word + length;
        if (!nested) break;
    }
    if (to > names) strcpy(to, *at == 'I' ? "<...>" : "");
    return names;
}

// The library cannot read all of nvcc's names: of CUTLASS's kernels it reads none. What does not
// begin like a mangled name it takes for a type's: e is a long double to it.
char *report_demangle(const char *mangled)
{
    int status;
    if (strncmp(mangled, "_Z", 2)) return strdup(mangled);
    char *name = __cxa_demangle(mangled, NULL, NULL, &status);
    return name ? name : outer_names(mangled);
}

// Of one file's alone: _ZN32_INTERNAL_6a492d43_4_n_cu__Z1kPi1a1cE is a::c, as is __nv_static_23_,
// 23 characters more and a _ before it (-rdc).
char *report_variable_name(const char *mangled)
{
    static const char of_file[] = "__nv_static_", within_file[] = "_INTERNAL_";
    char *behind;
    if (!strncmp(mangled, of_file, strlen(of_file))) {
        size_t length = strtoul(mangled + strlen(of_file), &behind, 10) + 2;
        if (length < strlen(behind)) mangled = behind + length;
    }
    char *name = report_demangle(mangled), *own = strstr(name, "::");
    if (own && !strncmp(name, within_file, strlen(within_file)))
        memmove(name, own + 2, strlen(own + 2) + 1);
    return name;
}

char *report_plain_name(const char *signature)
{
    static const char unnamed[] = "(anonymous namespace)::";
    const char *start = strstr(signature, unnamed);
    start = start ? start + strlen(unnamed) : signature;
    char *name = strdup(start);
    if (!name) return NULL;
    name[strcspn(name, "(<")] = 0;
    char *space = strrchr(name, ' ');
    if (space) memmove(name, space + 1, strlen(space));
    return name;
}

char *report_made(const Allocation *a, char *buffer, size_t size)
{
    Place place;
    buffer[0] = 0;
    if (a->name) snprintf(buffer, size, " of variable %s", a->name);
    else if (a->made_in.line ? (place = a->made_in, true)
                             : origin_place(a->made, MEMORY_CALLERS, &place))
        snprintf(buffer, size, " made at %s:%u", report_base_name(place.file), place.line);
    return buffer;
}

char *report_freed(const Allocation *a, char *buffer, size_t size)
{
    Place place;
    buffer[0] = 0;
    if (a->unmade_in.line ? (place = a->unmade_in, true)
                          : origin_place(a->unmade, MEMORY_CALLERS, &place))
        snprintf(buffer, size, " at %s:%u", report_base_name(place.file), place.line);
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
