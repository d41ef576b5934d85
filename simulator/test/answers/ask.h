// Questions to a CUDA runtime, one line each, so that what two devices answer can be compared
// (main.c).
#pragma once
#include <cuda_runtime_api.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A group runs in a process of its own, since an error may stick; GROUP(name, devices) { questions
// } on a machine of so many.
typedef struct {
    const char *name;
    int devices;
    void (*run)(void);
} Group;
#define GROUP(name, devices)                                                                       \
    static void run_##name(void);                                                                  \
    static const Group group_##name = { #name, devices, run_##name };                              \
    __attribute__((section("groups"), used)) static const Group *const listed_##name =             \
        &group_##name;                                                                             \
    static void run_##name(void)

// "group: question: the error's name", and what cudaGetLastError() gives behind it where that is
// not the same; "crashes" is an answer, too.
#define ask(question, call)                                                                        \
    (ask_begin(question), sigsetjmp(ask_crashed, 1) ? ask_end_crashed() : ask_end(call))
void ask_begin(const char *question);
void ask_end(cudaError_t error);
void ask_end_crashed(void);
extern __thread sigjmp_buf ask_crashed;

// "group: question: these words".
__attribute__((format(printf, 2, 3))) void tell(const char *question, const char *format, ...);

// For what comes before a question, and should not fail: says so where it does.
#define DO(call) do_it((call), #call)
void do_it(cudaError_t error, const char *call);

// kernels.cu: their stubs, for cudaLaunchKernel.
extern void nothing(void), add_one(int *), write_at(char *), misaligned(char *), trap(void),
    fail_assert(int), dynamic_shared(int *), past_shared(int, int *), recurse(int, int *),
    last_for(int), launch_wrongly(int *), launch_deeper(int *, int), launch_many(int *, int),
    static_shared(int *), bounded(int *), call_null(int *), call_runtime(int *), ask_runtime(int *),
    pairs_of_blocks(void), sixteen_blocks(void), four_at_most(void), allocate(size_t, size_t *),
    free_null(void), free_twice(void), free_made_up(void), print_integers(void), print_floats(void),
    print_pointers(void *, const char *), print_many(int, int *),
    many_parameters(int, char, double, int *, short), large_table(int *), divides(double *),
    uses_constant(int *), local_memory(int *), bulk(int, unsigned, unsigned, char *),
    copy_async(unsigned, const char *), allocate_all(size_t, size_t *), allocate_most(size_t *),
    print_long(int *);
extern int large_parameter[]; // its parameter's type is the kernels' own
extern int variable[16];      // their handles, as the program knows them
extern int constant[16];

static inline cudaError_t launch(const void *kernel, int blocks, int threads, void **arguments,
                                 size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, (dim3){ (unsigned)blocks, 1, 1 },
                            (dim3){ (unsigned)threads, 1, 1 }, arguments, shared, stream);
}

// A kernel of `blocks` blocks of a warp each.
static inline struct cudaKernelNodeParams kernel_of(const void *kernel, unsigned blocks,
                                                    void **arguments)
{
    return (struct cudaKernelNodeParams){ .func = (void *)kernel,
                                          .gridDim = { blocks, 1, 1 },
                                          .blockDim = { 32, 1, 1 },
                                          .kernelParams = arguments };
}
