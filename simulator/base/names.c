// Mangled names begin with _Z.
#define _GNU_SOURCE
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

const char *names_base(const char *file)
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
char *names_demangle(const char *mangled)
{
    int status;
    if (strncmp(mangled, "_Z", 2)) return strdup(mangled);
    char *name = __cxa_demangle(mangled, NULL, NULL, &status);
    return name ? name : outer_names(mangled);
}

// Of one file's alone: _ZN32_INTERNAL_6a492d43_4_n_cu__Z1kPi1a1cE is a::c, as is __nv_static_23_,
// 23 characters more and a _ before it (-rdc).
char *names_variable(const char *mangled)
{
    static const char of_file[] = "__nv_static_", within_file[] = "_INTERNAL_";
    char *behind;
    if (!strncmp(mangled, of_file, strlen(of_file))) {
        size_t length = strtoul(mangled + strlen(of_file), &behind, 10) + 2;
        if (length < strlen(behind)) mangled = behind + length;
    }
    char *name = names_demangle(mangled), *own = strstr(name, "::");
    if (own && !strncmp(name, within_file, strlen(within_file)))
        memmove(name, own + 2, strlen(own + 2) + 1);
    return name;
}

char *names_plain(const char *signature)
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

// Is it a part of an identifier?
static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

char *names_brief(const char *signature, size_t most)
{
    char *brief = strdup(signature);
    size_t to = 0, word = 0; // where the current identifier begins; after a > there is none
    if (!brief || strlen(signature) <= most) return brief;
    for (const char *from = signature; *from; from++) {
        if (from[0] == ':' && from[1] == ':' && to > word) {
            to = word;
            from++;
            continue;
        }
        if (!is_word(*from)) word = to + 1;
        brief[to++] = *from;
    }
    brief[to] = 0;
    if (to > most) strcpy(brief + most - 3, "...");
    return brief;
}
