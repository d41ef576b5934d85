// The run's facts, in the environment from main() to the checks.
#define _GNU_SOURCE
#include "run.h"
#include "confine.h"
#include "peer.h"
#include "protocol.h"
#include "session.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void run_export(const char *lesson, const char *root, const char *folder)
{
    setenv("WARPWISE_LESSON", lesson, 1);
    setenv("WARPWISE_ROOT", root, 1);
    setenv("WARPWISE_RUN", folder, 1);
}

static const char *exported(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

// Numbers that no submission can have seen.
static unsigned long long fresh_key(void)
{
    unsigned long long key = 0;
    if (getrandom(&key, sizeof key, 0) != sizeof key)
        key = (unsigned long long)time(NULL) ^ getpid();
    return key;
}

const char *run_lesson(void) { return exported("WARPWISE_LESSON"); }
const char *run_root(void) { return exported("WARPWISE_ROOT"); }
const char *run_result(void) { return exported("WARPWISE_RESULT"); }
void run_set_result(const char *path) { setenv("WARPWISE_RESULT", path, 1); }
const char *run_folder(void) { return exported("WARPWISE_RUN"); }

const char *run_worker(void)
{
    static char *path;
    if (!path) path = text_format("%s/worker", run_folder());
    return path;
}

const char *run_harness(void)
{
    static char *path;
    if (!path) path = text_format("%s/build/grader/worker.o", run_root());
    return path;
}

char *run_beside(const char *result, const char *end)
{
    static const char *const ends[] = { ".json", ".json.new" };
    size_t n = strlen(result);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t m = strlen(ends[i]);
        if (n > m && strcmp(result + n - m, ends[i]) == 0) n -= m;
    }
    return text_format("%.*s%s", (int)n, result, end);
}

const char *run_timeline(const char *check)
{
    const Profile *p = run_profile();
    for (size_t i = 0; i < p->timelines; i++)
        if (strcmp(p->timeline[i], check) == 0)
            return run_beside(run_result(), text_format(".%s.timeline.json", check));
    return NULL;
}

const char *run_peer(const char *name)
{
    return text_format("%s/%s", run_folder(), strcmp(name, PEER_COPY) == 0 ? "copy" : "peers");
}

const char *run_missing(void)
{
    const char *library = exported("WARPWISE_MISSING");
    return *library ? library : NULL;
}

void run_set_missing(const char *library) { setenv("WARPWISE_MISSING", library, 1); }

static const char *simulator_command(void)
{
    static char *simulator;
    const char *device = getenv("DEVICE");
    if (device && session_device_reports(device)) return device;
    if (!simulator) simulator = text_format("%s/simulator/run", exported("WARPWISE_ROOT"));
    return simulator;
}

const char *run_device(void) { return run_on_gpu() ? exported("DEVICE") : simulator_command(); }

bool run_on_gpu(void) { return *exported("WARPWISE_GPU") != 0; }
int run_devices(void)
{
    return run_on_gpu() ? atoi(exported("WARPWISE_GPUS")) : run_profile()->devices;
}
uint64_t run_l2_bytes(void) { return strtoull(exported("WARPWISE_GPU"), NULL, 10); }

// Not behind a profiler or a memory checker: it is to see allocations of their own sizes.
bool run_owns_gpu_memory(void) { return *exported("WARPWISE_GPU_MEMORY") && !*run_device(); }

int run_times(void)
{
    int times = atoi(exported("WARPWISE_TIMES"));
    return times > 1 ? times : 1;
}

void run_set_times(int times)
{
    char *text = text_format("%d", times);
    setenv("WARPWISE_TIMES", text, 1);
    free(text);
}

const char *run_gpu_nodes(void) { return exported("WARPWISE_GPU_NODES"); }
const char *run_gpu_library(void) { return exported("WARPWISE_GPU_LIBRARY"); }

double run_patience(void)
{
    enum { ALONE = 3, IN_TURNS = 20 };
    if (!run_on_gpu()) return 1;
    return *run_device() || getenv("GPU_SHARED") ? IN_TURNS : ALONE;
}

static void export_nodes(const Gpu *gpu)
{
    char *all = strdup("");
    for (char **node = gpu_nodes(gpu); *node; node++) all = text_format("%s%s\n", all, *node);
    setenv("WARPWISE_GPU_NODES", all, 1);
}

void run_use_gpu(const Gpu *gpu)
{
    char *l2 = text_format("%llu", (unsigned long long)gpu->l2_bytes);
    char *seed = text_format("%016llx", fresh_key());
    char *count = text_format("%d", gpu->count < PROTOCOL_PARTS ? gpu->count : PROTOCOL_PARTS);
    setenv("WARPWISE_GPU", l2, 1);
    setenv("SEED", seed, 1);
    setenv("WARPWISE_GPU_MEMORY", gpu->exports_memory ? "1" : "", 1);
    setenv("WARPWISE_GPU_LIBRARY", gpu->library, 1);
    export_nodes(gpu);
    setenv("WARPWISE_GPUS", gpu->count > 1 ? count : "1", 1);
    free(count);
    free(l2);
    free(seed);
}

const char *run_libraries(void)
{
    static char *libraries;
    const char *cuda = exported("CUDA_HOME"), *before = exported("LD_LIBRARY_PATH");
    // In a sandbox there is no /etc/ld.so.cache, which may be what finds the driver's.
    const char *driver = confine_is_on() ? run_gpu_library() : "";
    if (!libraries)
        libraries =
            text_format("LD_LIBRARY_PATH=%s/lib64%s%s%s%s", *cuda ? cuda : "/usr/local/cuda",
                        *before ? ":" : "", before, *driver ? ":" : "", driver);
    return libraries;
}

static const char known_seed[] = "warpwise";

const char *run_seed(void)
{
    const char *seed = getenv("SEED");
    return seed && *seed ? seed : known_seed;
}

bool run_seed_is_secret(void) { return strcmp(run_seed(), known_seed) != 0; }

static Profile profile;
static const char *profile_problem;

static void read_profile(void)
{
    static bool done;
    if (done) return;
    done = true;
    char *path = text_format("%s/profiles/lessons/%s.cfg", exported("WARPWISE_ROOT"), run_lesson());
    profile = (Profile){ .instructions = 100000000, .seconds = 20, .devices = 1 };
    if (access(path, F_OK) == 0) profile_problem = profile_read(path, &profile);
    free(path);
}

const Profile *run_profile(void)
{
    read_profile();
    return &profile;
}

const char *run_profile_problem(void)
{
    read_profile();
    return profile_problem;
}
