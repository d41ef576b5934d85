// Compiles peers, and finds out what is missing when that fails: the library by its name.
#define _GNU_SOURCE
#include "peer.h"
#include "compile.h"
#include "record.h"
#include "run.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The words after "// link:" in the first line; returns how many.
static size_t read_links(const char *source, const char *links[COMPILE_MORE])
{
    static char line[256];
    size_t count = 0;
    FILE *f = fopen(source, "re");
    if (f && fgets(line, sizeof line, f) && strncmp(line, "// link:", 8) == 0)
        for (char *w = strtok(line + 8, " \n"); w && count < COMPILE_MORE; w = strtok(NULL, " \n"))
            links[count++] = w;
    if (f) fclose(f);
    return count;
}

// Does the C compiler, or the toolkit, have "libX.so"?
static bool is_there(const char *library)
{
    const char *cuda = getenv("CUDA_HOME");
    char *path = text_format("%s/lib64/%s", cuda && *cuda ? cuda : "/usr/local/cuda", library);
    char *command = text_format("gcc -print-file-name='%s'", library), found[512] = "";
    bool there = access(path, F_OK) == 0;
    FILE *f = there ? NULL : popen(command, "re");
    if (f && fgets(found, sizeof found, f))
        there = strchr(found, '/') != NULL; // else it prints the name again
    if (f) pclose(f);
    free(command);
    free(path);
    return there;
}

// The first library of the link line that is not on this machine, "libX", or NULL.
static char *missing_library(const char *const *links, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(links[i], "-l", 2) != 0) continue;
        char *file = text_format("lib%s.so", links[i] + 2);
        if (!is_there(file)) {
            file[strlen(file) - 3] = 0;
            return file;
        }
        free(file);
    }
    return NULL;
}

static json_t *compile(const char *root, const char *name, const char *source)
{
    const char *links[COMPILE_MORE + 1] = { 0 };
    size_t count = read_links(source, links);
    char *missing = missing_library(links, count);
    if (missing) {
        run_set_missing(missing);
        return NULL;
    }
    return compile_program(root, run_folder(), name, source, links, true) == COMPILED
             ? NULL
             : fact_new(VERDICT_GRADER_ERROR, text_format("%s does not compile", source), NULL,
                        "make doctor");
}

json_t *peer_prepare(const char *root)
{
    char *copy = text_format("%s/grader/copy.peer.cu", root);
    char *own = text_format("%s/grader/lessons/%s.peer.cu", root, run_lesson());
    const Profile *p = run_profile();
    json_t *refusal = compile(root, "copy", copy);
    bool named = false;
    for (size_t i = 0; i < p->targets; i++) named |= strcmp(p->target[i].peer, PEER_COPY) != 0;
    if (!refusal && named) refusal = compile(root, "peers", own);
    free(copy);
    free(own);
    return refusal;
}
