#!/bin/sh
# What simulator/run --timeline writes: the trace event format, as ui.perfetto.dev reads it, with the arguments of each event, an arrow
# from each call to its work, and the calls that failed.
set -u
cd "$(dirname "$0")/../.."
. simulator/test/told

cat >"$scratch/calls.cu" <<'END'
#include <cuda_runtime.h>

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

static void count(void *calls) { ++*(int *)calls; }

int main()
{
    int *x, *never, *host, calls = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaMallocHost(&host, 256);
    cudaMalloc(&x, 256);
    cudaMalloc(&never, 1ull << 50);
    cudaMemsetAsync(x, 0, 256, stream);
    twice<<<2, 64, 16, stream>>>(x);
    twice<<<1, 2048, 0, stream>>>(x);
    cudaMemcpyAsync(host, x, 128, cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, count, &calls);
    cudaStreamQuery(stream); // "not yet" is no failure
    cudaGetLastError();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int n = 0; n < 2; n++) twice<<<1, 32, 0, stream>>>(x);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(host, x, 64, cudaMemcpyDeviceToHost);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFreeHost(host);
    cudaFree(x);
    cudaFree(x);
}
END
for_device=-arch=sm_90
builds_cuda calls

cat >"$scratch/read.py" <<'END'
# Prints each call and each piece of work, with its arguments, and of work which call the arrow comes from.
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
needed = {"X": "ts dur tid args cat", "M": "args", "i": "ts tid s", "s": "ts tid id cat", "f": "ts tid id cat bp"}
spans, starts = [], {}
for e in events:
    missing = [k for k in ("name pid " + needed[e["ph"]]).split() if k not in e]
    assert not missing, (e, missing)
    if e["ph"] == "X": spans.append(e)
    if e["ph"] == "s":
        assert e["id"] not in starts, e
        starts[e["id"]] = e

def row(e): return e["pid"], e["tid"]

# As Perfetto does: an arrow is bound to the innermost span of its row that has its time.
def at(e):
    found = [s for s in spans if row(s) == row(e) and s["ts"] <= e["ts"] <= s["ts"] + s["dur"]]
    return min(found, key=lambda s: s["dur"], default=None)

source = collections.defaultdict(list)
for e in events:
    if e["ph"] != "f": continue
    start = starts.pop(e["id"])
    assert (start["name"], start["cat"]) == (e["name"], e["cat"]) and start["ts"] <= e["ts"], e
    to = [s for s in spans if row(s) == row(e) and s["ts"] == e["ts"]]
    assert at(start) and to, e
    source[id(to[0])].append(at(start)["name"])
assert not starts, starts
for s in spans:
    a = s["args"]
    a["source"] = a.get("source", "").rsplit("/", 1)[-1]
    print(s["cat"], s["name"], *(f"{k}={v}" for k, v in sorted(a.items()) if v != ""), "from " + ",".join(source[id(s)]) if source[id(s)] else "")
END

# timeline PROGRAM OPTIONS
timeline() {
    program=$1
    shift
    simulator/run "$@" --timeline "$scratch/t.json" "$scratch/$program" >/dev/null 2>&1
    holds "$program $*: no trace" python3 "$scratch/read.py" "$scratch/t.json" >"$scratch/out" 2>&1
}

# shows LINE...
shows() {
    for line; do holds "no line: $line" sh -c "sed 's/ *\$//' '$scratch/out' | grep -qxF -- '$line'"; done
}

for late in '' --late; do
    timeline calls $late
    shows 'error cudaMalloc: cudaErrorMemoryAllocation error=cudaErrorMemoryAllocation source=calls.cu:16' \
        'error cudaLaunchKernel: cudaErrorInvalidValue error=cudaErrorInvalidValue source=calls.cu:19' \
        'fill Memset bytes=256 source=calls.cu:17 stream=1 from cudaMemsetAsync' \
        'kernel twice block=(64,1,1) grid=(2,1,1) shared=16 source=calls.cu:18 stream=1 from cudaLaunchKernel' \
        'copy Memcpy DtoH (pinned) bytes=128 source=calls.cu:20 stream=1 from cudaMemcpyAsync' \
        'host function host function source=calls.cu:21 stream=1 from cudaLaunchHostFunc' \
        'kernel twice block=(32,1,1) grid=(1,1,1) source=calls.cu:28 stream=1 from cudaGraphLaunch' \
        'copy Memcpy DtoH (pinned) bytes=64 source=calls.cu:30 stream=0 from cudaMemcpy'\
        'error cudaFree: cudaErrorInvalidValue error=cudaErrorInvalidValue source=calls.cu:36'
    holds 'a query has failed' sh -c "! grep -q Query '$scratch/out'"
    holds 'a graph of two kernels does not have two arrows' [ "$(grep -c '^kernel .* from cudaGraphLaunch' "$scratch/out")" = 2 ]
done

# A program that says that its launches are part of a library's call, or of a graph's launch, and has announced none.
cat >"$scratch/within.cu" <<'END'
#include <cuda_runtime.h>
#include <string.h>

__global__ void once() {}

int main()
{
    const struct { void (*within)(int change); } *table;
    cudaUUID_t id;
    memcpy(id.bytes, "warpwise: inside", sizeof id.bytes);
    if (cudaGetExportTable((const void **)&table, &id)) return 1;
    table->within(1);
    once<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
END
builds_cuda within
timeline within
shows 'kernel once block=(1,1,1) grid=(1,1,1) source=within.cu:13 stream=0 from cudaLaunchKernel'
holds 'a wait is left out' grep -q '^call cudaDeviceSynchronize' "$scratch/out"

done_with timeline
