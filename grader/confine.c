#define _GNU_SOURCE
#include "confine.h"
#include "run.h"
#include "text.h"
#include <stdlib.h>
#include <unistd.h>

static const char *sandbox(void)
{
    const char *path = getenv("WARPWISE_SANDBOX");
    return path && *path ? path : NULL;
}

bool confine_is_on(void) { return sandbox() != NULL; }

// The sandbox's word, and how much of it (its --isolation): WARPWISE_ISOLATION, or namespaces.
static size_t begin(const char **argv, size_t n)
{
    const char *isolation = getenv("WARPWISE_ISOLATION");
    argv[n++] = sandbox();
    argv[n++] = "--isolation";
    argv[n++] = isolation && *isolation ? isolation : "namespaces";
    return n;
}

// Paths that a machine, or a bundle, lacks are left out.
static size_t show(const char **argv, size_t n, const char *path)
{
    if (!path || access(path, R_OK) != 0) return n;
    argv[n++] = "--read";
    argv[n++] = path;
    return n;
}

static size_t show_toolkit(const char **argv, size_t n, const char *root)
{
    const char *cuda = getenv("CUDA_HOME");
    n = show(argv, n, cuda && *cuda ? realpath(cuda, NULL) : NULL);
    return show(argv, n, text_format("%s/build/lib", root)); // of a bundle: libffi
}

static size_t keep(const char **argv, size_t n, const char *name)
{
    argv[n++] = "--keep";
    argv[n++] = name;
    return n;
}

size_t confine_worker(const char **argv, const char *root, const char *worker)
{
    size_t n = 0;
    if (!sandbox()) return 0;
    n = begin(argv, n);
    n = show_toolkit(argv, n, root);
    n = show(argv, n, realpath(text_format("%s/build/simulator/lib", root), NULL));
    n = show(argv, n, worker);
    n = keep(argv, n, "LD_LIBRARY_PATH");
    n = keep(argv, n, "WARPWISE_DEVICE"); // where the device is (simulator/wire/wire.h)
    argv[n++] = "--";
    return n;
}

size_t confine_compiler(const char **argv, const char *root, const char *source, const char *folder)
{
    size_t n = 0;
    if (!sandbox()) return 0;
    const char *here = getcwd(NULL, 0);
    n = begin(argv, n);
    n = show_toolkit(argv, n, root);
    n = show(argv, n, run_harness());
    n = show(argv, n, text_format("%s/grader/lessons/%s.h", root, run_lesson()));
    n = show(argv, n, *source == '/' ? source : text_format("%s/%s", here, source));
    argv[n++] = "--write";
    argv[n++] = folder;
    argv[n++] = "--at"; // where the paths of its messages begin
    argv[n++] = here;
    n = keep(argv, n, "TMPDIR");
    n = keep(argv, n, "NVCC_CCBIN");
    argv[n++] = "--";
    return n;
}

void confine_end(int *status, int *signal)
{
    enum { SIGNALS = 64 };
    if (!confine_is_on() || *status <= 128 || *status > 128 + SIGNALS) return;
    *signal = *status - 128;
    *status = 0;
}
