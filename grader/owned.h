// The arrays of a call that the grader itself owns: on a simulated device it allocates, fills,
// reads and frees them over a channel of its own to the device (simulator/wire/wire.h, "The
// owner"), which the submission's process has never seen. The worker gets their addresses, and
// makes the call.
#pragma once
#include "grader.h"
#include "session.h"

// Does the grader own this argument, in this session? Otherwise the worker has the making of it.
bool owned(const Session *s, const Arg *a);

// Makes the owned arrays of a request, whose memory files are there (buffer_give), and writes their
// addresses into it. The outcome is ANSWER; with an error of the device, *answer says so.
enum outcome owned_give(Session *s, Request *request, const Arg *argv, Answer *answer);

// Once the function has returned: waits for the devices, and copies the arrays into the memory
// files of their buffers, from the last device to the first where the request says so. What is
// spread over devices is read before all of them are waited for: each part in its device's default
// stream, in which an input is then written anew, as it is, as a caller may who goes on.
enum outcome owned_take(Session *s, const Request *request, const Arg *argv, Answer *answer);

// Frees them.
enum outcome owned_free(Session *s, const Request *request, const Arg *argv, Answer *answer);
