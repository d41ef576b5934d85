// What this run of the grader is about. The checks are processes of their own
// (Criterion starts the program anew for each), so the main program hands these
// over through the environment.
#pragma once
#include "claims.h"
#include "gpu.h"
#include <stdbool.h>

// In main(), once: the lesson's name ("05-transpose"), the project's root, and
// the folder that is this run's alone.
void run_export(const char *lesson, const char *root, const char *folder);

const char *run_lesson(void); // "05-transpose"
const char *run_root(void);   // the project's root
void run_set_result(const char *path);
const char *run_result(void);           // where the JSON result will be
const char *run_folder(void);           // records and the worker are in it
const char *run_worker(void);           // the compiled submission
const char *run_harness(void);          // what it is linked with: ROOT/build/grader/worker.o
const char *run_peer(const char *name); // the program of that peer (peer.h), compiled
const char *run_missing(void); // the library that the lesson's own peers want in vain, or NULL
void run_set_missing(const char *library);
const char *run_device(void); // the command of a device that reports, $DEVICE if it is one; on a
                              // GPU what is put before the worker: may be ""
bool run_on_gpu(void);        // the checks run on the GPU now, not on the simulated device
int run_devices(void);        // of the machine, simulated or not; at most PROTOCOL_PARTS
// A path beside a result: "05-blur-edges.png" of "05-blur.json", and of "05-blur.json.new", and
// "-edges.png". The caller frees it.
char *run_beside(const char *result, const char *end);
// "13-streams.large.timeline.json": where the timeline of that check goes; NULL: it is not kept.
const char *run_timeline(const char *check);
double
run_patience(void); // times the profile's seconds: profilers take their time, and others the GPU's
void run_use_gpu(const Gpu *gpu); // from now on they do
uint64_t run_l2_bytes(void);      // of that GPU
int run_times(void);              // how often a measurement times both sides; 1 unless told
void run_set_times(int times);
const char *run_gpu_nodes(void);   // what a program on these GPUs opens (gpu_nodes), a path a line
const char *run_gpu_library(void); // the folder of the driver's library, or ""
bool run_owns_gpu_memory(void);    // the grader owns the calls' arrays there (gpu_memory.h)
const char *run_libraries(void);   // "LD_LIBRARY_PATH=..." with NVIDIA's CUDA runtime first
const char *run_seed(void);        // $SEED, else "warpwise"; on a GPU a fresh one for each run
bool run_seed_is_secret(void);     // it is not "warpwise"
const Profile *run_profile(void);  // of this lesson; without a file, one with no claims
const char *run_profile_problem(void); // what is wrong with it, or NULL
