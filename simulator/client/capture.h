// Stream capture: operations of captured streams become nodes of a graph instead of being run. Why
// a call fails because of a capture is told to a person here.
#pragma once
#include "operation.h"

// Adds the operation to a graph, if the stream is being captured. True: the operation must not be
// run, and *error is the result of the call.
bool capture_takes(const Operation *operation, uint64_t stream, cudaError_t *error);

// The error of a call that waits for the stream or queries it, which invalidates the stream's
// capture. cudaSuccess: the call is allowed.
cudaError_t capture_forbids_waiting(const char *call, uint64_t stream);

// The same for a call that capture_forbids() prohibits too.
cudaError_t capture_forbids_asking(const char *call, uint64_t stream);

// The same for a call that tells of its error itself; and for one that waits for all streams, which
// invalidates every capture.
cudaError_t capture_ends_by(const char *call, uint64_t stream);
cudaError_t capture_ends_by_all(const char *call);

// A call on the stream has failed, which invalidates its capture, if there is one. Returns `error`.
cudaError_t capture_fails(const char *call, uint64_t stream, cudaError_t error);

// The error of a potentially unsafe call, such as cudaMalloc(). It invalidates the captures that
// prohibit such calls in this thread, according to their modes and the thread's mode.
cudaError_t capture_forbids(const char *call);

// For cudaEventRecord() and cudaStreamWaitEvent(). True: the stream or the event belongs to a
// capture, and *error is the result of the call. False: the call must be run.
bool capture_record(const char *call, cudaEvent_t event, uint64_t stream, cudaError_t *error);
bool capture_wait(const char *call, cudaEvent_t event, uint64_t stream, cudaError_t *error);

bool capture_has_stream(uint64_t stream);

// The stream has been destroyed. A capture that began on it ends.
void capture_forget(uint64_t stream);

// Is the event's latest record part of a capture that has ended? Then the event must be recorded
// again before anything can wait for it.
bool capture_had_event(cudaEvent_t event);
void capture_forget_event(cudaEvent_t event); // the event is destroyed

// The error of a query of the event, or of the host's wait for it: its latest record is part of an
// open capture.
cudaError_t capture_forbids_event(const char *call, cudaEvent_t event);
