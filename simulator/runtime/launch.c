// Modules, kernels and launches on behalf of the program.

#include "clock.h"
#include "ptx/fatbin.h"
#include "machine/grid.h"
#include "managed.h"
#include "machine/memory.h"
#include "ptx/native.h"
#include "machine/occupancy.h"
#include "report/origin.h"
#include "machine/print.h"
#include "machine/profile.h"
#include "ptx/registers.h"
#include "peer.h"
#include "serve.h"
#include "report/source.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS = 1 << 12, FAT_HEADER_BYTES = 16,
    MOST_MODULES = 4096,
    MOST_KERNELS = 1 << 16,
    LARGEST_IMAGE = 1 << 30,
    MOST_PRINTED = 1 << 30
};
static const u64 FIRST_MODULE = 0x2000000, FIRST_KERNEL = 0x3000000;

static struct {
    Module *module;                             // NULL: unloaded
    char *native;                               // its native image, or NULL
    size_t native_bytes;
    char *missing;                              // why a part of it has no PTX here; NULL: all have
} modules[MOST_MODULES];
static u32 module_count;
static Kernel *kernels[MOST_KERNELS];
static u32 kernel_count;

static struct {
    u8 *bytes;
    u64 total, received;
} upload;                                       // the image that is on its way

static struct {
    bool pending;
    int error;
    char kernel[256];
    Place place;
    Launch launch;                              // its configuration; the kernel may be gone
    u64 dynamic_shared;
    u32 max_threads, static_shared;
} unchecked;                                    // the first failed launch that nobody looked at

static struct {
    bool waits;
    Launch launch;
    u64 stream;
    bool in_graph;                              // launched in one go with others
    u64 caller[WIRE_CALLERS];
    char params[WIRE_TAIL];
} queued;                                       // the launch that was answered and has not run

static char *printed;                           // by kernels, and not yet shown by the program
static size_t printed_bytes;

// ---- Modules ----

static Module *module_of(u64 id)
{
    u64 index = id - FIRST_MODULE;
    return index < module_count ? modules[index].module : NULL;
}

static int refuse_image(const Call *call, char *error)
{
    int arch = profile.major * 10 + profile.minor;
    char next[160];
    snprintf(next, sizeof next,
             "Compile with nvcc 13 and -gencode arch=compute_%d,code=[compute_%d,sm_%d].", arch,
             arch, arch);
    Report report = { .kind = REPORT_UNSUPPORTED, .place = serve_place(call), .next = next,
        .why = "The simulated device runs PTX, not a GPU's native code." };
    report_errorf(&report, "the program's device code cannot be run: %s",
                  error ? error : "no memory");
    free(error);
    return WIRE_NO_KERNEL_IMAGE;
}

static int refuse_ptx(const Call *call, char *error)
{
    Report report = { .kind = REPORT_UNSUPPORTED, .place = serve_place(call),
        .why = "The simulated device could not read the program's PTX.",
        .next = "Write that part in another way, or run the program on a real device." };
    report_errorf(&report, "%s", error ? error : "there are too many modules");
    free(error);
    return WIRE_INVALID_PTX;
}

// The texts of the upload's fat binaries (nvcc -rdc=true: what was linked, then each part); NULL ends them. *error: why
// the first of those that gave none did so, as the toolkit's own library for dynamic parallelism does.
static char **read_texts(int arch, char **error)
{
    char **texts = calloc(MOST_PARTS + 1, sizeof *texts);
    size_t count = 0, part;
    if (!texts)
        abort();
    for (u64 at = 0; at < upload.total && count < MOST_PARTS; at += part) {
        char *refused = NULL;
        size_t length;
        part = fatbin_part(upload.bytes + at, upload.total - at);
        texts[count] = fatbin_ptx(upload.bytes + at, part, arch, &length, &refused);
        count += texts[count] != NULL;
        if (refused && !*error && part > FAT_HEADER_BYTES)
            *error = refused;
        else
            free(refused);
    }
    return texts;
}

static void set_registers(Module *module, const void *native, size_t bytes)
{
    for (Kernel *k = module_kernels(module); k; k = k->next) {
        u32 registers = native_registers(native, bytes, k->name);
        k->hardware_registers = registers ? registers : registers_guess(k);
        k->registers_known = registers != 0;
        k->native_known = native_shared(native, bytes, k->name, &k->native_shared);
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
    Module *module = module_count < MOST_MODULES ? module_load(texts, device, twin, &unreadable) : NULL;
    for (char **text = texts; *text; text++)
        free(*text);
    free(texts);
    if (!module) {
        free(error);
        return refuse_ptx(call, unreadable);
    }
    modules[module_count].module = module;
    modules[module_count].missing = error;
    modules[module_count].native = fatbin_native(upload.bytes, upload.total, arch,
                                                 &modules[module_count].native_bytes);
    set_registers(module, modules[module_count].native, modules[module_count].native_bytes);
    call->reply.id = FIRST_MODULE + module_count++;
    return WIRE_SUCCESS;
}

static bool start_upload(const WireChunk *chunk)
{
    free(upload.bytes);
    upload.bytes = NULL;
    if (!chunk->total || chunk->total > LARGEST_IMAGE)
        return false;
    upload.bytes = malloc(chunk->total);
    upload.total = chunk->total;
    upload.received = 0;
    return upload.bytes != NULL;
}

// The chunks of an image come in order; with the last one it is loaded.
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
    if (upload.received < upload.total)
        return;
    call->reply.error = add_module(call);
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
        if (kernels[i] && kernels[i]->module == module)
            kernels[i] = NULL;
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
        if (kernels[i] == kernel)
            return FIRST_KERNEL + i;
    if (kernel_count == MOST_KERNELS)
        return 0;
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
        call->reply.error = refuse_image(call, strdup(modules[call->request.name.module - FIRST_MODULE].missing));
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
    call->reply.kernel.local_bytes = kernel->local_bytes;
    call->reply.kernel.max_threads = kernel->max_threads;
    u64 index = call->request.name.module - FIRST_MODULE;
    call->reply.kernel.registers =
        native_registers(modules[index].native, modules[index].native_bytes, kernel->name);
    call->reply.kernel.ptx_version = (u32)(profile.major * 10 + profile.minor);
    describe_parameters(call, kernel);
}

void launch_variable(Call *call)
{
    Module *module = module_of(call->request.name.module);
    if (!module)
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
    else if (!module_variable(module, call->tail, &call->reply.memory.address,
                              &call->reply.memory.size))
        call->reply.error = WIRE_SYMBOL_NOT_FOUND;
}

// ---- Launches ----

static Kernel *kernel_of(u64 id)
{
    u64 index = id - FIRST_KERNEL;
    return index < kernel_count ? kernels[index] : NULL;
}

static Launch launch_of(const Call *call)
{
    const WireRequest *request = &call->request;
    Launch launch = { .kernel = kernel_of(request->launch.kernel), .params = call->tail,
        .dynamic_shared = (u32)request->launch.dynamic_shared, .device = request->device,
        .limit = device.limit, .cooperative = request->launch.cooperative };
    memcpy(launch.grid, request->launch.grid, sizeof launch.grid);
    memcpy(launch.block, request->launch.block, sizeof launch.block);
    return launch;
}

void launch_occupancy(Call *call)
{
    const WireRequest *request = &call->request;
    const Kernel *kernel = kernel_of(request->launch.kernel);
    u64 shared = request->launch.dynamic_shared;
    if (!kernel)
        call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
    else if (!request->launch.block[0] || shared > UINT32_MAX)
        call->reply.error = WIRE_INVALID_VALUE;
    else if (request->launch.grid[0])
        call->reply.error = occupancy_available(kernel, request->launch.block[0], request->launch.grid[0],
                                                (u32)request->launch.dynamic_limit, &call->reply.occupancy.bytes)
            ? 0 : WIRE_INVALID_VALUE;
    else
        call->reply.occupancy.blocks =
            occupancy_blocks(kernel, request->launch.block[0], (u32)shared).blocks;
}

static int refuse_kernel(const Call *call, const Kernel *kernel)
{
    Report report = { .kind = REPORT_UNSUPPORTED,
                      .kernel = kernel->signature,
                      .place = serve_place(call),
                      .why = "Its PTX has something that this simulated device cannot run yet.",
                      .next = "Write that part in another way, or run it on a real device." };
    Place at = source_of(kernel, kernel->unsupported_at);
    if (at.file && at.line)
        report.place = at;
    report_errorf(&report, "%s", kernel->unsupported);
    return WIRE_NOT_SUPPORTED;
}

static int check(const Call *call)
{
    const WireRequest *request = &call->request;
    Launch launch = launch_of(call);
    if (!launch.kernel || module_device(launch.kernel->module) != request->device
        || !clock_stream_known(request->stream)
        || clock_stream_device(request->stream) != request->device)
        return WIRE_INVALID_RESOURCE_HANDLE;
    if (launch.kernel->unsupported)
        return refuse_kernel(call, launch.kernel);
    if (call->tail_bytes != launch.kernel->param_bytes)
        return WIRE_INVALID_VALUE;
    if (request->launch.dynamic_shared > request->launch.dynamic_limit
        || request->launch.dynamic_shared > UINT32_MAX)
        return WIRE_INVALID_VALUE;
    return grid_check(&launch);
}

static void note_unchecked(const Call *call)
{
    const Kernel *kernel = kernel_of(call->request.launch.kernel);
    if (unchecked.pending || !call->request.launch.unchecked || !kernel)
        return;
    unchecked.pending = true;
    unchecked.error = call->reply.error;
    unchecked.place = serve_place(call);
    snprintf(unchecked.kernel, sizeof unchecked.kernel, "%s", kernel->signature);
    unchecked.launch = launch_of(call);
    unchecked.dynamic_shared = call->request.launch.dynamic_shared;
    unchecked.max_threads = kernel->max_threads;
    unchecked.static_shared = kernel->shared_bytes;
}

bool launch_check(Call *call)
{
    call->reply.error = check(call);
    if (call->reply.error)
        note_unchecked(call);
    return !call->reply.error;
}

static void gather_printed(void)
{
    size_t bytes;
    char *text = print_take(&bytes);
    char *larger = text ? realloc(printed, printed_bytes + bytes) : NULL;
    if (larger && bytes < MOST_PRINTED - printed_bytes) {
        memcpy(larger + printed_bytes, text, bytes);
        printed_bytes += bytes;
    }
    if (larger)
        printed = larger;
    free(text);
}

void launch_queue(const Call *call)
{
    queued.waits = true;
    queued.launch = launch_of(call);
    queued.launch.params = memcpy(queued.params, call->tail, call->tail_bytes);
    queued.stream = call->request.stream;
    queued.in_graph = call->request.launch.in_graph;
    memcpy(queued.caller, call->request.caller, sizeof queued.caller);
}

// The share of the device that the launch's blocks fill while it runs.
static double share_of(const Launch *launch)
{
    double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    double resident = occupancy_resident(launch);
    return blocks < resident ? blocks / resident : 1;
}

// When it ran beside the other devices' work, and what it moved from and to them.
static void report_ran(const Grid *grid)
{
    LinkReport links[2 * MOST_DEVICES];
    u32 of = queued.launch.device;
    double end = clock_stream_end(queued.stream);
    if (device.count > 1)
        report_work("kernel", of, end - queued.launch.seconds * 1e9, end, false, links, peer_links(grid, links));
}

void launch_run_queued(void)
{
    if (!queued.waits)
        return;
    queued.waits = false;
    queued.launch.operation = clock_operation(queued.stream);
    Grid *grid = grid_start(&queued.launch);
    if (grid_run(grid, true, false) == GRID_STANDS)
        grid_report_deadlock(grid, NULL);
    device.sticky = grid_finish(grid);
    if (queued.in_graph)
        queued.launch.seconds += profile.graph_kernel_seconds - profile.kernel_seconds;
    clock_work(queued.stream, ENGINE_COMPUTE, share_of(&queued.launch), queued.launch.seconds * 1e9, false);
    managed_launched(grid, queued.caller, clock_stream_end(queued.stream));
    report_ran(grid);
    grid_free(grid);
    gather_printed();
    report_flush();
}

void launch_checked(void)
{
    unchecked.pending = false;
}

// What about its configuration the device refused.
static void say_reason(char *text, size_t size)
{
    const u32 *grid = unchecked.launch.grid, *block = unchecked.launch.block;
    u64 threads = (u64)block[0] * block[1] * block[2];
    if (!threads || !grid[0] || !grid[1] || !grid[2])
        snprintf(text, size, "a grid of %ux%ux%u blocks of %ux%ux%u threads has none", grid[0],
                 grid[1], grid[2], block[0], block[1], block[2]);
    else if (threads > unchecked.max_threads)
        snprintf(text, size, "its blocks have %" PRIu64 " threads and may have %u", threads,
                 unchecked.max_threads);
    else if (unchecked.error == WIRE_COOPERATIVE_LAUNCH_TOO_LARGE)
        snprintf(text, size, "a cooperative grid of %ux%ux%u blocks is more than the device holds at once",
                 grid[0], grid[1], grid[2]);
    else if (unchecked.dynamic_shared + unchecked.static_shared > (u64)profile.shared_per_block)
        snprintf(text, size,
                 "a block wants %" PRIu64 " bytes of shared memory, more than it may have",
                 unchecked.dynamic_shared + unchecked.static_shared);
    else
        snprintf(text, size, "a grid of %ux%ux%u blocks of %ux%ux%u threads, error %d", grid[0],
                 grid[1], grid[2], block[0], block[1], block[2], unchecked.error);
}

void launch_unchecked(void)
{
    char reason[160];
    if (!unchecked.pending)
        return;
    unchecked.pending = false;
    say_reason(reason, sizeof reason);
    Report report = {
        .kind = REPORT_API,
        .kernel = unchecked.kernel,
        .place = unchecked.place,
        .why = "A launch returns nothing: its error waits for cudaGetLastError, and here nobody "
               "asked.",
        .next = "Mend the launch, and write CHECK(cudaGetLastError()) on the line after it."
    };
    report_errorf(&report, "this launch failed and the kernel never ran: %s", reason);
}

// ---- What kernels print ----

bool launch_has_printed(void)
{
    return printed_bytes > 0;
}

void launch_printed(Call *call)
{
    size_t bytes = printed_bytes < WIRE_TAIL ? printed_bytes : WIRE_TAIL;
    memcpy(call->out, printed, bytes);
    memmove(printed, printed + bytes, printed_bytes - bytes);
    printed_bytes -= bytes;
    call->reply.tail = (u32)bytes;
    call->reply.printed = printed_bytes > 0;
}

void launch_print_rest(void)
{
    if (!printed_bytes)
        return;
    Report report = { .kind = REPORT_API,
                      .why = "A kernel's printf is shown when the host waits for the device; the "
                             "program ended before.",
                      .next = "Call cudaDeviceSynchronize before main returns." };
    report_errorf(&report, "what kernels printed (%zu bytes) was never shown", printed_bytes);
    printed_bytes = 0;
}
