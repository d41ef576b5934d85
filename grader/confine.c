#define _GNU_SOURCE
#include "confine.h"
#include "run.h"
#include "sandbox/ends.h"
#include "text.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    n = show(argv, n, cuda && *cuda ? cuda : NULL);
    return show(argv, n, text_format("%s/build/lib", root)); // of a bundle: libffi
}

char *confine_find(const char *name)
{
    if (*name == '/') return strdup(name);
    if (strchr(name, '/')) return text_format("%s/%s", getcwd(NULL, 0), name);
    char *folders = strdup(getenv("PATH") ? getenv("PATH") : ""), *found = NULL, *rest;
    for (char *folder = strtok_r(folders, ":", &rest); folder && !found;
         folder = strtok_r(NULL, ":", &rest)) {
        found = text_format("%s/%s", folder, name);
        if (access(found, X_OK) == 0) break;
        free(found);
        found = NULL;
    }
    free(folders);
    return found;
}

// The folder above that of a program, once its links are followed; NULL: there is no such program.
static char *above(const char *program)
{
    char *real = program ? realpath(program, NULL) : NULL;
    for (int up = 0; real && up < 2; up++) *(strrchr(real, '/') ? strrchr(real, '/') : real) = 0;
    return real;
}

// nvcc's toolkit, where it is not CUDA_HOME: the folder above bin/nvcc, if nvcc's own list of the
// toolkit's parts is there.
static size_t show_compiler(const char **argv, size_t n, const char *compiler)
{
    char *home = above(compiler);
    n = show(argv, n, compiler);
    if (home && access(text_format("%s/bin/nvcc.profile", home), R_OK) == 0)
        n = show(argv, n, home);
    return n;
}

// Is a compiler there in each sandbox, by its bare name?
static bool is_systems(const char *path)
{
    static const char *const folders[] = { "/usr/local/bin/", "/usr/bin/", "/bin/" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) == 0 && !strchr(path + n, '/')) return true;
    }
    return false;
}

// What nvcc calls the host's compiler: NVCC_CCBIN, which may be a folder, or g++. One that is
// elsewhere has its parts beside its bin, as gcc's and clang's are laid out.
static size_t show_host_compiler(const char **argv, size_t n)
{
    static const char *const parts[] = { "bin", "lib", "lib64", "libexec", "include" };
    struct stat at;
    const char *wanted = getenv("NVCC_CCBIN");
    char *path = confine_find(wanted && *wanted ? wanted : "g++");
    if (!path || is_systems(path)) return n;
    setenv("NVCC_CCBIN", path, 1);
    n = show(argv, n, path);
    bool folder = stat(path, &at) == 0 && S_ISDIR(at.st_mode);
    char *home = above(folder ? text_format("%s/g++", path) : path);
    for (size_t i = 0; home && *home && i < sizeof parts / sizeof *parts; i++)
        n = show(argv, n, text_format("%s/%s", home, parts[i]));
    return n;
}

static size_t keep(const char **argv, size_t n, const char *name)
{
    argv[n++] = "--keep";
    argv[n++] = name;
    return n;
}

// The driver looks up in /sys which processors are near a GPU. What it keeps of a program in the
// host's memory counts as the program's: it may have more than on the simulated device.
static size_t show_gpu(const char **argv, size_t n)
{
    char *nodes = strdup(run_gpu_nodes());
    for (char *node = strtok(nodes, "\n"); node; node = strtok(NULL, "\n")) {
        argv[n++] = "--device";
        argv[n++] = node;
    }
    static const char *const more[] = { "--memory", "17179869184", "--seconds", "600" };
    memcpy(argv + n, more, sizeof more);
    n += sizeof more / sizeof *more;
    n = show(argv, n, "/sys");
    if (*run_gpu_library() && strncmp(run_gpu_library(), "/usr/", 5) != 0)
        n = show(argv, n, run_gpu_library());
    return keep(argv, n, "CUDA_VISIBLE_DEVICES");
}

size_t confine_worker(const char **argv, const char *root, const char *worker)
{
    size_t n = 0;
    if (!sandbox()) return 0;
    n = begin(argv, n);
    n = show_toolkit(argv, n, root);
    if (run_on_gpu()) n = show_gpu(argv, n);
    else n = show(argv, n, text_format("%s/build/simulator/lib", root));
    n = show(argv, n, worker);
    n = keep(argv, n, "LD_LIBRARY_PATH");
    n = keep(argv, n, "WARPWISE_DEVICE"); // where the device is (simulator/wire/wire.h)
    argv[n++] = "--";
    return n;
}

size_t confine_compiler(const char **argv, const char *root, const char *compiler,
                        const char *source, const char *folder)
{
    size_t n = 0;
    if (!sandbox()) return 0;
    const char *here = getcwd(NULL, 0);
    n = begin(argv, n);
    n = show_toolkit(argv, n, root);
    n = show_compiler(argv, n, compiler);
    n = show_host_compiler(argv, n);
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
    if (!confine_is_on()) return;
    if (*status == SANDBOX_LIMIT_MEMORY) *status = 128 + SIGKILL;
    if (*status <= 128 || *status > 128 + SIGNALS) return;
    *signal = *status - 128;
    *status = 0;
}

const char *confine_failure(int status)
{
    if (!confine_is_on()) return NULL;
    if (status == SANDBOX_FAILED) return "The sandbox did not start the program.";
    return status == SANDBOX_MACHINE_MEMORY
             ? "This machine has no more memory, so the program was killed."
             : NULL;
}
