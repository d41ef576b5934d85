// Launches, fills and copies by kernels (CUDA's dynamic parallelism). What a grid launches begins
// when the grid has run: nothing promises an earlier start. A grid counts as ended when everything
// that it launched has ended.
#pragma once
#include "grid.h"
#include "warp.h"

typedef struct DynamicLaunch {
    struct DynamicLaunch *next;
    Launch launch; // of a kernel, whose parameters are `params`
    void *params;
    const char *call; // NULL: a launch; otherwise the name of a fill or copy
    u64 to, from, to_pitch, from_pitch, width, rows; // addresses and bytes
    u32 value;                                       // of a fill, which has from == 0
} DynamicLaunch;

// What the grid has launched, in the order in which it runs. The caller frees each entry and its
// params.
DynamicLaunch *dynamic_launches_take(Grid *grid);
void dynamic_launches_drop(Grid *grid); // frees what is left

// cudaLimitDevRuntimePendingLaunchCount: the launches that a grid may leave pending.
void dynamic_launch_set_limit(u32 device, u32 count);

// The device runtime's functions, as in print_functions.
void run_parameter_buffer(Warp *, const Insn *, u32 mask);
void run_launch_device(Warp *, const Insn *, u32 mask);
void run_plain_buffer(Warp *, const Insn *, u32 mask);
void run_launch_kernel(Warp *, const Insn *, u32 mask);
void run_last_error(Warp *, const Insn *, u32 mask);
void run_peek_error(Warp *, const Insn *, u32 mask);
void run_stream_create(Warp *, const Insn *, u32 mask);
void run_event_create(Warp *, const Insn *, u32 mask);
void run_stream_or_event(Warp *, const Insn *, u32 mask);
void run_fill_by_kernel(Warp *, const Insn *, u32 mask);
void run_fill_2d_by_kernel(Warp *, const Insn *, u32 mask);
void run_copy_by_kernel(Warp *, const Insn *, u32 mask);
// device_queries.c
void run_get_device(Warp *, const Insn *, u32 mask);
void run_device_attribute(Warp *, const Insn *, u32 mask);
void run_occupancy(Warp *, const Insn *, u32 mask);
// error_text.c
void run_error_name(Warp *, const Insn *, u32 mask);
void run_error_string(Warp *, const Insn *, u32 mask);
const char *error_name(int code); // "cudaErrorInvalidValue"

// Ends a lane's call: sets its result, which becomes the lane's last error if it is one. Stores
// `bytes` bytes, at most VALUE_BYTES, of a value where the lane wants it; false: it must not, and
// the grid has failed.
void dynamic_launch_return(Warp *, const Insn *, u32 lane, int error);
bool dynamic_launch_store(Warp *, const Insn *, u32 lane, u64 to, u64 value, u32 bytes);
