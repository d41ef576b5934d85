#!/bin/sh
# What a person reads when the device refuses another call than a launch: the reason, once a line.
set -u
cd "$(dirname "$0")/../.."
. simulator/test/told

# ---- Calls that a capture does not permit

cat >"$scratch/captured.cu" <<'END'
#include <cstdlib>
#include <thread>

__global__ void one(int *p) { *p = 1; }

int main(int, char **words)
{
    int *p;
    void *out;
    cudaStream_t stream, other;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaMalloc(&p, 4);
    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    cudaEventCreate(&event);
    if (atoi(words[1]) == 4) cudaEventRecord(event, other);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    one<<<1, 1, 0, stream>>>(p);
    if (atoi(words[1]) != 4) cudaEventRecord(event, stream);
    switch (atoi(words[1])) {
    case 0: cudaMalloc(&out, 4); break;
    case 1: std::thread([&] { cudaHostAlloc(&out, 4, 0); }).join(); break;
    case 2: cudaStreamQuery(stream); break;
    case 3: cudaStreamWaitEvent(other, event), one<<<1, 1, 0, other>>>(p); break;
    case 4: cudaStreamWaitEvent(stream, event); break;
    case 5: cudaStreamWaitEvent(other, event), cudaStreamEndCapture(other, &graph); break;
    case 6: cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal), cudaStreamWaitEvent(other, event); break;
    case 7: cudaEventQuery(event); break;
    case 8: std::thread([&] { cudaStreamEndCapture(stream, &graph); }).join(); exit(0);
    case 9: cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); break;
    case 10: cudaEventRecord(event); break;
    case 11: cudaStreamSynchronize(stream); break;
    }
    one<<<1, 1, 0, stream>>>(p);
    cudaGetLastError();
    cudaStreamEndCapture(stream, &graph);
    cudaFree(p);
}
END
builds_cuda captured
began='the capture began with: cudaStreamBeginCapture, captured.cu:18 '
told 0 'captured 0' 'call refused, captured.cu:22 ' 'cudaMalloc is not permitted while a stream is being captured' "$began" \
    'a launch is part of a capture that is lost' 'cudaStreamEndCapture is part' 'the capture was lost by: cudaMalloc, captured.cu:22 '
says 3
told 0 'captured 1' 'cudaHostAlloc is not permitted' "$began"
told 0 'captured 2' 'cudaStreamQuery waits for a stream that is being captured' "$began"
told 0 'captured 3' 'ends a capture that another stream has not joined again' "$began"
told 0 'captured 4' 'cudaStreamWaitEvent waits for an event from outside of the capture' "$began"
told 0 'captured 5' 'cudaStreamEndCapture was given another stream than the capture began with' "$began"
told 1 'captured 6' 'cudaStreamWaitEvent would make one capture of two' 'the capture began with: cudaStreamBeginCapture, captured.cu:28 '
told 0 'captured 7' 'cudaEventQuery was given an event that was recorded in a capture' "$began"
says 1
told 1 'captured 8' 'cudaStreamEndCapture ends a capture that another thread began' "$began"
told 0 'captured 9' 'cudaStreamBeginCapture was given a stream that is being captured already' "$began"
says 1
told 0 'captured 10' 'cudaEventRecord uses the default stream while another is being captured' "$began"
told 1 'captured 11' 'misuse of the CUDA runtime, captured.cu:33 ' 'the capture was lost by: cudaStreamSynchronize, captured.cu:33 '

# ---- Other calls that are refused

cat >"$scratch/asked.c" <<'END'
#include <cuda_runtime_api.h>
#include <stdlib.h>

int main(void)
{
    float ms;
    char host[64];
    void *p, *out;
    cudaEvent_t here, untimed, never;
    cudaMalloc(&p, 64);
    cudaMemset(p, 0, 64);
    cudaEventCreate(&here);
    cudaEventCreate(&never);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    cudaEventRecord(here, 0);
    cudaEventRecord(untimed, 0);
    cudaDeviceSynchronize();

    cudaSetDevice(2);
    cudaMalloc(&out, 1ull << 44);
    cudaMallocManaged(&out, 1ull << 50, cudaMemAttachGlobal);
    cudaMallocAsync(&out, 1ull << 44, 0);
    cudaMemcpy(host, p, 64, (enum cudaMemcpyKind)9);
    cudaMemcpy2D(host, 4, p, 8, 8, 2, cudaMemcpyDeviceToHost);
    cudaEventElapsedTime(&ms, here, never);
    cudaEventElapsedTime(&ms, here, untimed);
    cudaEventRecord(NULL, 0);
    cudaDeviceEnablePeerAccess(0, 0);
    cudaDeviceEnablePeerAccess(1, 0);
    cudaDeviceEnablePeerAccess(1, 0);
    cudaDeviceDisablePeerAccess(1);
    cudaDeviceDisablePeerAccess(1);
    cudaHostUnregister(host);
    cudaHostRegister(p, 64, 0);
    cudaHostGetDevicePointer(&out, host, 0);
    cudaStreamSynchronize((cudaStream_t)0x5000);
    cudaStreamCreateWithFlags((cudaStream_t *)&out, 64);
    cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20);
    cudaLaunchKernel((const void *)main, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, 0);
    for (int n = 0; n < 3; n++) cudaSetDevice(-1);
    cudaFree(p);
    return cudaGetLastError() == cudaSuccess;
}
END
builds_c asked
DEVICES=2
export DEVICES
told 0 asked 'call refused, asked.c:20 ' 'cudaSetDevice was given device 2, and the program has 2, counted from 0' \
    'cudaMalloc asked for 17592186044416 bytes, and ' 'bytes are free' \
    'cudaMallocManaged asked for 1125899906842624 bytes, more than there are for pinned and managed memory' \
    'cudaMallocAsync asked for 17592186044416 bytes' 'cudaMemcpy was given the direction 9, which is none' \
    'cudaMemcpy2D was given a pitch of 4 bytes for rows of 8 bytes' 'cudaEventElapsedTime was given an event that was never recorded' \
    'cudaEventElapsedTime was given an event that keeps no time' 'cudaEventRecord was given a null event' \
    'cudaDeviceEnablePeerAccess was given device 0, which is the current one' \
    'cudaDeviceEnablePeerAccess: device 0 may access device 1 already' 'cudaDeviceDisablePeerAccess: device 0 may not access device 1' \
    'cudaHostUnregister was given memory that is not registered' 'cudaHostRegister was given device memory' \
    'cudaHostGetDevicePointer was given memory that is not pinned' 'cudaStreamSynchronize was given what is no stream' \
    'cudaStreamCreateWithFlags does not have the flags 0x40' \
    'cudaDeviceSetLimit asks for 1048576, and this limit is at most 524288' 'was given a pointer, which is no kernel' 'cudaSetDevice was given device -1'
says 20
unset DEVICES

# ---- The driver's library

driver=build/simulator/lib/libcuda.so.1
cat >"$scratch/driver.c" <<'END'
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

// LIBRARY: a function that asks whether there is a driver, by the name that it is given; or linked with it.
int ask(void);
#if LIBRARY == 1
int ask(void) { return ((int (*)(unsigned))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuInit"))(0); }
#elif LIBRARY == 2
int ask(void) { CUdevice device; return cuInit(0), cuDeviceGet(&device, 0); }
#else
#ifdef RUNTIME
int cudaFree(void *);
#else
static int cudaFree(void *p) { CUdevice device; return p != 0 || cuDeviceGet(&device, 0); }
#endif
int main(void) { printf("%d\n", cudaFree(0)); return ask() != CUDA_ERROR_NOT_SUPPORTED; }
#endif
END
compile() { gcc -isystem "$cuda/include" -L"$cuda/lib64" -L"$scratch" "$scratch/driver.c" "$@" || exit 1; }
compile -DLIBRARY=1 -shared -fPIC -o "$scratch/libasks.so"
compile -DLIBRARY=2 -shared -fPIC -o "$scratch/libneeds.so" "$driver"
compile -DRUNTIME -o "$scratch/asks" -lcudart -lasks -Wl,-rpath,"$scratch"
compile -DRUNTIME -o "$scratch/needs" -lcudart -lneeds -Wl,-rpath,"$scratch" -Wl,-rpath-link,build/simulator/lib
compile -o "$scratch/alone" -lasks "$driver" -Wl,-rpath,"$scratch"

# A library that looks for a driver, as compilers do, does without. One that is linked with it does not.
told 0 asks
says 0
told 1 needs 'cuInit, which libneeds.so calls, is not supported' 'cuDeviceGet, which libneeds.so calls, is not supported'
says 3
told 0 alone 'warpwise: cuDeviceGet is not supported by the simulated device, which runs programs that are linked with' 'nvcc -cudart shared'

# All that the toolkit's stand-in exports is there; not every toolkit has one.
stub=$cuda/lib64/stubs/libcuda.so
names() { nm -D --defined-only "$1" | awk '{ print $3 }' | sort; }
if [ -f "$stub" ]; then
    names "$stub" >"$scratch/theirs"
    names "$driver" | comm -13 - "$scratch/theirs" >"$scratch/out"
    holds "the driver's library lacks what the toolkit's has" [ ! -s "$scratch/out" ]
fi

done_with text_refusals
