// Launches, fills and copies by kernels (CUDA's dynamic parallelism). What a grid launches begins
// when it has ended: nothing promises that it begins sooner, and a grid counts as ended only when
// all that it launched has.
#pragma once
#include "grid.h"
#include "warp.h"

typedef struct DynamicLaunch {
    struct DynamicLaunch *next;
    Launch launch; // of a kernel; its parameters are `params`.
    void *params;
    const char *call; // NULL; else a fill or copy, and this is its name
    u64 to, from, to_pitch, from_pitch, width, rows; // bytes and addresses; from 0: a fill,
    u32 value;                                       // with this
} DynamicLaunch;

// What the grid has launched, in the order in which it is to run; the caller's, each to be freed
// with its params.
DynamicLaunch *dynamic_launches_take(Grid *grid);
void dynamic_launches_drop(Grid *grid); // what is left, and what they needed

// cudaLimitDevRuntimePendingLaunchCount: how many launches a grid may leave behind.
void dynamic_launch_set_limit(u32 device, u32 count);

// The functions, as print_functions has them.
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

// How the call of a lane ends: its result, which is the lane's last error if it is one; and `bytes`
// of a value, at most VALUE_BYTES, stored where the lane wants it. False: it must not, and the grid
// has failed.
void dynamic_launch_return(Warp *, const Insn *, u32 lane, int error);
bool dynamic_launch_store(Warp *, const Insn *, u32 lane, u64 to, u64 value, u32 bytes);
