// Captures: streams whose operations go into a graph instead of being run.
#pragma once
#include "operation.h"

// Does a capture take the operation? Then *error says how that went.
bool capture_takes(const Operation *operation, uint64_t stream, cudaError_t *error);

// The error of a call that waits for the stream, or asks after it; cudaSuccess: the stream is not
// captured. The capture is then good for nothing more.
cudaError_t capture_forbids_waiting(uint64_t stream);

// The same of one that the program would not make while it captures another stream, either.
cudaError_t capture_forbids_asking(uint64_t stream);

// A call on the stream has failed: if it is captured the capture is good for nothing more. Returns
// `error`.
cudaError_t capture_fails(uint64_t stream, cudaError_t error);

// The error of a call that waits for all streams.
cudaError_t capture_forbids_all(void);

// The error of a call that may not be made while anything is captured that this thread has to mind.
cudaError_t capture_forbids(void);

// An event is recorded on, or waited for by, a stream that is captured, or was recorded on one.
// False: captures have nothing to do with it.
bool capture_record(cudaEvent_t event, uint64_t stream, cudaError_t *error);
bool capture_wait(cudaEvent_t event, uint64_t stream, cudaError_t *error);

bool capture_has_stream(uint64_t stream);

// The stream is destroyed, and with it the capture that began on it.
void capture_forget(uint64_t stream);

// Did the event stand for a moment of a capture that has ended, and for nothing since? It can be
// used for nothing but to be recorded again.
bool capture_had_event(cudaEvent_t event);
void capture_forget_event(cudaEvent_t event); // it is destroyed

// Does the event stand for a moment of a capture? Waiting for it is then an error.
bool capture_has_event(cudaEvent_t event);
