// The arrays of a call that the grader itself owns: it allocates, fills, reads and frees them over
// a channel of its own to the device (simulator/wire/wire.h, "The owner"), or on a GPU to a process
// that does it there (gpu_memory.h), which the submission's process has never seen. The worker gets
// their addresses, or descriptors of the GPU's memory, and makes the call.
#pragma once
#include "grader.h"
#include "session.h"

// Does the grader own this argument, in this session? Otherwise the worker has the making of it:
// what is the host's, and on GPUs what is spread over several of them.
bool owned(const Session *s, const Arg *a);

// Makes the owned arrays of a request, whose memory files are there (buffer_give), and writes their
// addresses into it; where the answer is to be the host's, tells the simulated device what the host
// is given; descriptors of a GPU's memory are appended to fds, for owned_sent() to close.
// The outcome is ANSWER; with an error of the device, *answer says so.
enum outcome owned_give(Session *s, Request *request, const Arg *argv, int *fds, size_t *fd_count,
                        Answer *answer);

// The request has gone to the worker: closes what owned_give() appended to the first `before`.
void owned_sent(const int *fds, size_t before, size_t fd_count);

// Tells the devices that the call begins, or that it is over: what they report of their time counts
// between the two. Of a session that keeps no time, nothing.
enum outcome owned_range(Session *s, bool begins, Answer *answer);

// Once the function has returned: waits for the devices, and copies the arrays into the memory
// files of their buffers, from the last device to the first where the request says so. What is
// spread over devices is read before all of them are waited for: each part in its device's default
// stream, in which an input is then written anew, as it is, as a caller may who goes on.
enum outcome owned_take(Session *s, const Request *request, const Arg *argv, Answer *answer);

// Of a host output, as it is in its buffer: how many words of it are in no piece of what the device
// has made in the call, or of an input (simulator/model/carried.h). False: the device does not say.
bool owned_compare(Session *s, const Buffer *b, uint64_t *hosts);

// Frees them.
enum outcome owned_free(Session *s, const Request *request, const Arg *argv, Answer *answer);
