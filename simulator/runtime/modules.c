// The handlers of modules, kernels and variables.

#include "ptx/fatbin.h"
#include "machine/grid.h"
#include "ptx/native.h"
#include "machine/occupancy.h"
#include "machine/profile.h"
#include "images.h"
#include "memory/writer.h"
#include "ptx/registers.h"
#include "serve.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS = 1 << 12,
    FAT_HEADER_BYTES = 16,
    MOST_MODULES = 4096,
    MOST_KERNELS = 1 << 16,
    LARGEST_IMAGE = 1 << 30
};
static const u64 FIRST_MODULE = 0x2000000, FIRST_KERNEL = 0x3000000;

static struct {
    Module *module; // NULL: unloaded
    char *native;   // its native image, or NULL
    size_t native_bytes;
    char *missing; // why a part of it has no PTX; NULL: every part has PTX
} modules[MOST_MODULES];
static u32 module_count;
static Kernel *kernels[MOST_KERNELS];
static u32 kernel_count;

static struct {
    u8 *bytes;
    u64 total, received;
} upload; // the image whose chunks are arriving

// ---- Modules ----

static Module *module_of(u64 id)
{
    u64 index = id - FIRST_MODULE;
    return index < module_count ? modules[index].module : NULL;
}

static int refuse_image(const Call *call, char *error)
{
    Report report = { .cause = CAUSE_image_unsupported,
                      .place = serve_place(call),
                      .detail = error ? error : "no memory",
                      .number = { { "arch", profile.major * 10 + profile.minor } } };
    report_error(&report);
    free(error);
    return WIRE_NO_KERNEL_IMAGE;
}

static int refuse_ptx(const Call *call, char *error)
{
    Report report = { .cause = CAUSE_ptx_unsupported,
                      .place = serve_place(call),
                      .detail = error ? error : "there are too many modules" };
    report_error(&report);
    free(error);
    return WIRE_INVALID_PTX;
}

// The PTX texts of the upload's fat binaries (with nvcc -rdc=true the linked image, then each of
// its parts), and a NULL at their end. *error: why the first fat binary without a text has none;
// the toolkit's library for dynamic parallelism is one.
static char **read_texts(int arch, char **error)
{
    char **texts = calloc(MOST_PARTS + 1, sizeof *texts);
    size_t count = 0, part;
    if (!texts) abort();
    for (u64 at = 0; at < upload.total && count < MOST_PARTS; at += part) {
        char *refused = NULL;
        size_t length;
        part = fatbin_part(upload.bytes + at, upload.total - at);
        texts[count] = fatbin_ptx(upload.bytes + at, part, arch, &length, &refused);
        count += texts[count] != NULL;
        if (refused && !*error && part > FAT_HEADER_BYTES) *error = refused;
        else free(refused);
    }
    return texts;
}

static bool has_accesses(const NativeAccesses *a)
{
    return native_count(a->loads) + native_count(a->stores) > 0;
}

static void look_at_native(Module *module, const void *native, size_t bytes)
{
    for (Kernel *k = module->kernels; k; k = k->next) {
        NativeThread thread;
        k->registers_known = native_thread(native, bytes, k->name, &thread);
        k->hardware_registers = k->registers_known ? thread.registers : registers_guess(k);
        k->hardware_local = k->registers_known ? thread.local_bytes : k->local_bytes;
        k->native_known = native_code(native, bytes, k->name, &k->native);
        k->local_in_registers = k->native_known && !k->hardware_local && !k->function_count
                             && !has_accesses(&k->native.local);
    }
}

static int add_module(Call *call)
{
    char *error = NULL;
    int arch = profile.major * 10 + profile.minor;
    char **texts = read_texts(arch, &error);
    if (!texts[0]) {
        free(texts);
        return refuse_image(call, error);
    }
    u32 device = call->request.device;
    const Module *twin = module_of(call->request.module.twin);
    char *unreadable = NULL;
    Module *module =
        module_count < MOST_MODULES ? module_load(texts, device, twin, &unreadable) : NULL;
    for (char **text = texts; *text; text++) free(*text);
    free(texts);
    if (!module) {
        free(error);
        return refuse_ptx(call, unreadable);
    }
    modules[module_count].module = module;
    modules[module_count].missing = error;
    modules[module_count].native =
        fatbin_native(upload.bytes, upload.total, arch, &modules[module_count].native_bytes);
    look_at_native(module, modules[module_count].native, modules[module_count].native_bytes);
    call->reply.id = FIRST_MODULE + module_count++;
    return WIRE_SUCCESS;
}

static bool start_upload(const WireChunk *chunk)
{
    free(upload.bytes);
    upload.bytes = NULL;
    if (!chunk->total || chunk->total > LARGEST_IMAGE) return false;
    upload.bytes = malloc(chunk->total);
    upload.total = chunk->total;
    upload.received = 0;
    return upload.bytes != NULL;
}

// The chunks of an image arrive in order. The last chunk loads the image.
void launch_module(Call *call)
{
    const WireChunk *chunk = &call->request.module.chunk;
    if (chunk->offset == 0 && !start_upload(chunk)) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    if (!upload.bytes || chunk->total != upload.total || chunk->offset != upload.received
        || chunk->slot >= WIRE_SLOTS || chunk->bytes > WIRE_SLOT_BYTES
        || chunk->bytes > upload.total - upload.received) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    memcpy(upload.bytes + upload.received, device.staging + (u64)chunk->slot * WIRE_SLOT_BYTES,
           chunk->bytes);
    upload.received += chunk->bytes;
    if (upload.received < upload.total) return;
    call->reply.error = add_module(call);
    if (writers && images_bring(upload.bytes, upload.total))
        report_crossing(CROSSING_MODULE, upload.total);
    free(upload.bytes);
    upload.bytes = NULL;
}

void launch_module_unload(Call *call)
{
    Module *module = module_of(call->request.object.id);
    if (!module) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    for (u32 i = 0; i < kernel_count; i++)
        if (kernels[i] && kernels[i]->module == module) kernels[i] = NULL;
    u64 index = call->request.object.id - FIRST_MODULE;
    free(modules[index].native);
    free(modules[index].missing);
    modules[index].missing = NULL;
    modules[index].native = NULL;
    modules[index].module = NULL;
    module_unload(module);
}

// ---- Kernels and variables ----

static u64 kernel_id(Kernel *kernel)
{
    for (u32 i = 0; i < kernel_count; i++)
        if (kernels[i] == kernel) return FIRST_KERNEL + i;
    if (kernel_count == MOST_KERNELS) return 0;
    kernels[kernel_count] = kernel;
    return FIRST_KERNEL + kernel_count++;
}

static void describe_parameters(Call *call, const Kernel *kernel)
{
    WireParameter *out = (WireParameter *)call->out;
    for (u32 i = 0; i < kernel->param_count; i++)
        out[i] = (WireParameter){ kernel->param_offset[i], kernel->param_size[i] };
    call->reply.tail = kernel->param_count * (u32)sizeof *out;
}

void launch_kernel(Call *call)
{
    Module *module = module_of(call->request.name.module);
    Kernel *kernel = module ? module_kernel(module, call->tail) : NULL;
    u64 id = kernel ? kernel_id(kernel) : 0;
    if (module && !kernel && modules[call->request.name.module - FIRST_MODULE].missing) {
        call->reply.error =
            refuse_image(call, strdup(modules[call->request.name.module - FIRST_MODULE].missing));
        return;
    }
    if (!id || kernel->param_count > WIRE_TAIL / sizeof(WireParameter)) {
        call->reply.error = module ? WIRE_SYMBOL_NOT_FOUND : WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    call->reply.kernel.id = id;
    call->reply.kernel.count = kernel->param_count;
    call->reply.kernel.bytes = kernel->param_bytes;
    call->reply.kernel.shared_bytes = kernel->shared_bytes;
    call->reply.kernel.local_bytes = kernel->hardware_local;
    call->reply.kernel.constant_bytes = module->constant_bytes;
    call->reply.kernel.max_threads = kernel->max_threads;
    memcpy(call->reply.kernel.cluster, kernel->cluster, sizeof kernel->cluster);
    call->reply.kernel.clustered = kernel->clustered;
    call->reply.kernel.registers = kernel->registers_known ? kernel->hardware_registers : 0;
    call->reply.kernel.ptx_version = (u32)(profile.major * 10 + profile.minor);
    describe_parameters(call, kernel);
}

void launch_kernel_name(Call *call)
{
    Module *module = module_of(call->request.name.module);
    if (!module) {
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
        return;
    }
    for (const Kernel *k = module->kernels; k; k = k->next) {
        if (call->reply.kernel.count++ != call->request.name.number || strlen(k->name) > WIRE_TAIL)
            continue;
        call->reply.tail = (u32)strlen(k->name);
        memcpy(call->out, k->name, call->reply.tail);
    }
}

void launch_variable(Call *call)
{
    Module *module = module_of(call->request.name.module);
    if (!module) call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
    else if (!module_variable(module, call->tail, &call->reply.memory.address,
                              &call->reply.memory.size))
        call->reply.error = WIRE_SYMBOL_NOT_FOUND;
}

Kernel *launch_kernel_of(u64 id)
{
    u64 index = id - FIRST_KERNEL;
    return index < kernel_count ? kernels[index] : NULL;
}

void launch_occupancy(Call *call)
{
    const WireRequest *request = &call->request;
    const Kernel *kernel = launch_kernel_of(request->launch.kernel);
    u64 shared = request->launch.dynamic_shared;
    if (!kernel) call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
    else if (!request->launch.block[0] || shared > UINT32_MAX)
        call->reply.error = WIRE_INVALID_VALUE;
    else if (request->launch.grid[0])
        call->reply.error =
            occupancy_available(kernel, request->launch.block[0], request->launch.grid[0],
                                (u32)request->launch.dynamic_limit,
                                (int)request->launch.carveout - 1, &call->reply.occupancy.bytes)
                ? 0
                : WIRE_INVALID_VALUE;
    else {
        call->reply.occupancy.blocks =
            occupancy_blocks(kernel, request->launch.block[0], (u32)shared).blocks;
        call->reply.occupancy.clusters =
            occupancy_clusters(call->reply.occupancy.blocks, request->launch.cluster[0]);
    }
}
