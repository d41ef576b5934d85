// A driver with one GPU, or $FAKE_GPUS, for the grader's own tests: 64 GB/s, and an L2 cache of 4
// KiB. Its memory is files, which processes share by their descriptors: a handle is one.
#define _GNU_SOURCE
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULE = 4096, MEMORY = 64 << 20 };

static bool is(const char *kind)
{
    const char *now = getenv("FAKE_GPU");
    return now && strcmp(now, kind) == 0;
}

CUresult cuInit(unsigned flags) { return (CUresult)flags; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }

CUresult cuDeviceGetCount(int *count)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *all = getenv("FAKE_GPUS");
    *count = all && !(visible && *visible) ? atoi(all) : 1;
    for (const char *c = visible; c && (c = strchr(c, ',')); c++) ++*count;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) { return *version = 13000, CUDA_SUCCESS; }

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    snprintf(name, size, "Fake GPU");
    return (CUresult)(device < 0);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = 1000000; break; // kHz
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 256; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 4096; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        *value = !is("exports-nothing");
        break;
    default: *value = 0;
    }
    return (CUresult)(device < 0);
}

// A visible GPU is named by its number, or by a UUID that begins with it.
static int ordinal_of(const char *visible)
{
    int number = 0;
    if (sscanf(visible, "GPU-%2x", (unsigned *)&number) == 1) return number;
    return atoi(visible);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    memset(uuid, 0x5e, sizeof *uuid);
    uuid->bytes[0] =
        (char)(visible && *visible && !strchr(visible, ',') ? ordinal_of(visible) : device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *bus, int size, CUdevice device)
{
    CUuuid uuid;
    cuDeviceGetUuid(&uuid, device);
    snprintf(bus, (size_t)size, "0000:A%d:00.0", uuid.bytes[0]);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    return *bytes = MEMORY, (CUresult)(device < 0);
}

// A device's context is where it counts what is used.
static size_t used_on[16], *used = used_on;

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    if (*used + bytes > MEMORY - MEMORY / 4) return CUDA_ERROR_OUT_OF_MEMORY; // the driver's own
    *memory = (CUdeviceptr)malloc(bytes);
    *used += bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8(CUdeviceptr memory, unsigned char value, size_t bytes)
{
    return memset((void *)memory, value, bytes), CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = (CUcontext)&used_on[device];
    bool busy = is("busy") || (is("busy-at-first") && access("seen", F_OK) != 0);
    return busy ? CUDA_ERROR_DEVICE_UNAVAILABLE : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    used = (size_t *)context;
    return used ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationGranularity(size_t *granule, const CUmemAllocationProp *kind,
                                       CUmemAllocationGranularity_flags option)
{
    (void)kind, (void)option;
    return *granule = GRANULE, CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *kind, unsigned long long flags)
{
    if (is("exports-nothing")) return CUDA_ERROR_NOT_SUPPORTED;
    int file = memfd_create("fake-gpu", MFD_CLOEXEC);
    (void)kind, (void)flags;
    if (file < 0 || bytes % GRANULE || ftruncate(file, (off_t)bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return *handle = (CUmemGenericAllocationHandle)file, CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return close((int)handle) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *file, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    (void)type, (void)flags;
    *(int *)file = dup((int)handle);
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *file,
                                        CUmemAllocationHandleType type)
{
    (void)type;
    int mine = dup((int)(intptr_t)file);
    if (mine < 0) return CUDA_ERROR_INVALID_VALUE;
    return *handle = (CUmemGenericAllocationHandle)mine, CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr at,
                             unsigned long long flags)
{
    (void)alignment, (void)at, (void)flags;
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return *address = (CUdeviceptr)p, p == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    return munmap((void *)address, bytes) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    (void)flags;
    void *p =
        mmap((void *)address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, (int)handle, (off_t)offset);
    return p == MAP_FAILED ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    return mprotect((void *)address, bytes, PROT_NONE) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access,
                        size_t count)
{
    (void)access, (void)count;
    return mprotect((void *)address, bytes, PROT_READ | PROT_WRITE) ? CUDA_ERROR_INVALID_VALUE
                                                                    : CUDA_SUCCESS;
}

// Like a GPU's, from memory that is not pinned: the bytes are taken now, and put there later.
static struct {
    void *to, *bytes;
    size_t count;
} late;

CUresult cuCtxSynchronize(void)
{
    if (late.bytes) memcpy(late.to, late.bytes, late.count);
    free(late.bytes);
    late.bytes = NULL;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    cuCtxSynchronize();
    late.to = (void *)to, late.bytes = malloc(bytes + 1), late.count = bytes;
    return memcpy(late.bytes, from, bytes), CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    cuCtxSynchronize();
    return memcpy(to, (void *)from, bytes), CUDA_SUCCESS;
}
