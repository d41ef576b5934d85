// What a person is told of a call that fails because of a capture.
#pragma once
#include "client.h"

// Sets the site to the call that the program makes now.
void capture_site(ClientSite *site, const char *call);

// Tells why the call returns this error, once a line, and where `began` was: the call that began
// the capture, or for cudaErrorStreamCaptureInvalidated the one that ended it. Nothing is told of
// other errors. Returns `error`.
cudaError_t capture_explain(const char *call, cudaError_t error, const ClientSite *began);

// The same for a call that waits for a captured stream, or for everything.
cudaError_t capture_explain_waiting(const char *call, cudaError_t error, const ClientSite *began);

// The same for an operation that is issued to a stream; `waits`: the host would wait for its end.
void capture_explain_operation(const char *call, cudaError_t error, bool waits,
                               const ClientSite *began);
