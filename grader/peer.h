// What submissions are timed against on a GPU: a copy of as many bytes
// (grader/copy.peer.cu), or a function of the lesson's own peers,
// grader/lessons/NN-name.peer.cu, that a target names:
//
//     // link: -lcublas                           the first line, where a library is needed
//     extern "C" void scan_cub(...)               the student's function's parameters
//
// A peer is called as the student's function is, on buffers of the same sizes with the
// same inputs, and what it answers must keep the same expectations: a library that was
// called wrongly is often fast, and tells nothing.
#pragma once
#include <jansson.h>

#define PEER_COPY "copy"

// Compiles the peers that the profile's targets name. A fact, if one cannot be; where a
// library is not on this machine that is none, but run_missing() from now on.
json_t *peer_prepare(const char *root);
