// Asks the driver's library, which is opened and not linked: where there is no
// driver the grader runs as well. A child does it, so that the grader itself
// holds nothing of the GPU while it measures.
#define _GNU_SOURCE
#include "gpu.h"
#include "driver.h"
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double attribute(const Driver *d, CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    return d->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static void find_version(const Driver *d, Gpu *gpu)
{
    FILE *f = fopen("/sys/module/nvidia/version", "re");
    int cuda = 0;
    bool read = f && fscanf(f, "%31s", gpu->driver) == 1;
    if (f) fclose(f);
    if (!read && d->cuDriverGetVersion(&cuda) == CUDA_SUCCESS)
        snprintf(gpu->driver, sizeof gpu->driver, "CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
}

// ---- Each of them

static const char *tests_root(void)
{
    const char *root = getenv("GPU_ROOT");
    return root ? root : "";
}

static void find_uuid(const Driver *d, CUdevice device, char text[48])
{
    CUuuid uuid = { { 0 } };
    size_t at = (size_t)sprintf(text, "GPU");
    if (d->cuDeviceGetUuid(&uuid, device)) return;
    for (int n = 0; n < (int)sizeof uuid.bytes; n++) {
        bool group = n == 0 || (n >= 4 && n <= 10 && n % 2 == 0);
        at += (size_t)sprintf(text + at, "%s%02x", group ? "-" : "", (unsigned char)uuid.bytes[n]);
    }
}

// The driver says it under the GPU's place on the bus: "Device Minor:    0".
static int find_node(const Driver *d, CUdevice device)
{
    char bus[32] = "", path[PATH_MAX], line[256];
    int node = -1;
    if (d->cuDeviceGetPCIBusId(bus, sizeof bus, device)) return -1;
    for (char *c = bus; *c; c++) *c = (char)tolower((unsigned char)*c);
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus/%s/information", tests_root(), bus);
    FILE *f = fopen(path, "re");
    while (f && node < 0 && fgets(line, sizeof line, f)) sscanf(line, "Device Minor: %d", &node);
    if (f) fclose(f);
    return node;
}

static void find_each(const Driver *d, Gpu *gpu)
{
    for (int n = 0; n < gpu->count && n < GPUS_MOST; n++) {
        CUdevice device;
        gpu->one[n].node = -1;
        if (d->cuDeviceGet(&device, n)) continue;
        find_uuid(d, device, gpu->one[n].uuid);
        gpu->one[n].node = find_node(d, device);
    }
}

static void find_library(const Driver *d, Gpu *gpu)
{
    Dl_info info = { 0 };
    char path[PATH_MAX] = "";
    if (!dladdr((void *)d->cuInit, &info) || !info.dli_fname) return;
    snprintf(path, sizeof path, "%s", info.dli_fname);
    char *slash = strrchr(path, '/'), *real = NULL;
    if (slash) *slash = 0;
    if (slash && (real = realpath(path, NULL)) && strlen(real) < sizeof gpu->library)
        strcpy(gpu->library, real);
    free(real);
}

static void add_path(char ***list, size_t *count, const char *path)
{
    if (access(path, F_OK) != 0) return;
    *list = reallocarray(*list, *count + 2, sizeof **list);
    (*list)[(*count)++] = strdup(path);
    (*list)[*count] = NULL;
}

static void add_pattern(char ***list, size_t *count, const char *pattern)
{
    char path[PATH_MAX];
    glob_t found;
    snprintf(path, sizeof path, "%s/dev/%s", tests_root(), pattern);
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t n = 0; n < found.gl_pathc; n++) add_path(list, count, found.gl_pathv[n]);
    globfree(&found);
}

char **gpu_nodes(const Gpu *gpu)
{
    size_t count = 0;
    char **list = calloc(1, sizeof *list), name[32];
    bool all = gpu->count > GPUS_MOST;
    add_pattern(&list, &count, "nvidiactl");
    add_pattern(&list, &count, "nvidia-uvm");
    for (int n = 0; n < gpu->count && !all; n++) all = gpu->one[n].node < 0;
    if (all) add_pattern(&list, &count, "nvidia[0-9]*");
    for (int n = 0; n < gpu->count && !all; n++) {
        snprintf(name, sizeof name, "nvidia%d", gpu->one[n].node);
        add_pattern(&list, &count, name);
    }
    return list;
}

// ---- Asking the driver

static bool look(Gpu *gpu)
{
    Driver d;
    CUdevice device;
    if (!driver_open(&d) || d.cuInit(0) || d.cuDeviceGet(&device, 0)
        || d.cuDeviceGetName(gpu->name, sizeof gpu->name, device))
        return false;
    if (d.cuDeviceGetCount(&gpu->count)) gpu->count = 1;
    gpu->major = (int)attribute(&d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    gpu->minor = (int)attribute(&d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    gpu->l2_bytes = (uint64_t)attribute(&d, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    gpu->exports_memory =
        attribute(&d, device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) > 0;
    gpu->bytes_per_second = 2 * 1e3 * attribute(&d, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
                          * attribute(&d, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
    find_version(&d, gpu);
    find_each(&d, gpu);
    find_library(&d, gpu);
    return gpu->major > 0;
}

// Has a child find something out, of so many bytes. False: it has not.
static bool ask(bool (*find)(void *), void *answer, size_t bytes)
{
    int found[2];
    if (pipe2(found, O_CLOEXEC) < 0) return false;
    pid_t pid = fork();
    if (pid == 0) {
        if (find(answer) && write(found[1], answer, bytes) == (ssize_t)bytes) _exit(0);
        _exit(1);
    }
    close(found[1]);
    bool good = pid > 0 && read(found[0], answer, bytes) == (ssize_t)bytes;
    close(found[0]);
    if (pid > 0) waitpid(pid, NULL, 0);
    return good;
}

static bool find(void *gpu) { return look(gpu); }

bool gpu_find(Gpu *gpu)
{
    *gpu = (Gpu){ 0 };
    return ask(find, gpu, sizeof *gpu);
}

// ---- Memory

// In pieces that get smaller, until the driver has none of a page (2 MiB) left.
static bool scrub_one(const Driver *d, int ordinal, uint64_t *bytes)
{
    enum { PAGE = 2 << 20 };
    CUdevice device;
    CUcontext context;
    size_t piece;
    if (d->cuDeviceGet(&device, ordinal) || d->cuDeviceTotalMem(&piece, device)
        || d->cuDevicePrimaryCtxRetain(&context, device) || d->cuCtxSetCurrent(context))
        return false;
    while (piece >= PAGE) {
        CUdeviceptr memory;
        if (d->cuMemAlloc(&memory, piece)) {
            piece /= 2;
            continue;
        }
        if (d->cuMemsetD8(memory, 0, piece)) return false;
        *bytes += piece;
    }
    return d->cuCtxSynchronize() == CUDA_SUCCESS;
}

static bool scrub(void *bytes)
{
    Driver d;
    int count = 0;
    bool good = driver_open(&d) && !d.cuInit(0) && !d.cuDeviceGetCount(&count);
    for (int n = 0; n < count && good; n++) good = scrub_one(&d, n, bytes);
    return good && count > 0;
}

uint64_t gpu_scrub(void)
{
    uint64_t bytes = 0;
    return ask(scrub, &bytes, sizeof bytes) ? bytes : 0;
}
