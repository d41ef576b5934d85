// Stream capture: operations of captured streams become nodes of a graph instead of being run.
#pragma once
#include "operation.h"

// Is the operation captured? Then *error says whether that succeeded.
bool capture_takes(const Operation *operation, uint64_t stream, cudaError_t *error);

// The error of a call that waits for the stream, or queries it, and so invalidates its capture;
// cudaSuccess: the stream is not captured.
cudaError_t capture_forbids_waiting(uint64_t stream);

// The same for a call that fails while another stream is captured, too.
cudaError_t capture_forbids_asking(uint64_t stream);

// A call on the stream has failed, which invalidates its capture, if there is one. Returns `error`.
cudaError_t capture_fails(uint64_t stream, cudaError_t error);

// The error of a call that waits for all streams.
cudaError_t capture_forbids_all(void);

// The error of a call that is forbidden while a capture of this thread's concern is open.
cudaError_t capture_forbids(void);

// An event is recorded on, or waited for by, a captured stream, or it was recorded on one. False:
// no capture is involved.
bool capture_record(cudaEvent_t event, uint64_t stream, cudaError_t *error);
bool capture_wait(cudaEvent_t event, uint64_t stream, cudaError_t *error);

bool capture_has_stream(uint64_t stream);

// The stream is destroyed, and the capture that began on it with it.
void capture_forget(uint64_t stream);

// Did the event mark a moment of a capture that has ended, and was it not recorded since? Then it
// can only be recorded again.
bool capture_had_event(cudaEvent_t event);
void capture_forget_event(cudaEvent_t event); // the event is destroyed

// Does the event mark a moment of an open capture? Waiting for it is an error then.
bool capture_has_event(cudaEvent_t event);
