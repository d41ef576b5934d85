#!/bin/sh
# What a person reads of a launch: simulator/run --profile, with numbers that were worked out by hand.
set -u
cd "$(dirname "$0")/../.."
. simulator/test/told

for_device='-gencode arch=compute_90,code=[compute_90,sm_90]'

# profile ARGUMENTS: the profile of a run, with blanks squeezed, as the lines of $scratch/out.
profile() {
    simulator/run --profile "$@" 2>&1 >/dev/null | tr -s ' ' >"$scratch/out"
}

# shows LINE...: the profile has each of these lines, or one that begins so.
shows() {
    for line; do
        holds "no line: $line" awk -v line="$line" 'index($0, line) == 1 { found = 1 } END { exit !found }' "$scratch/out"
    done
}

# ---- Every counter has its place on the page

for row in $(sed -n 's/^COUNTER(\([A-Z_0-9]*\), [A-Z]*,.*/SUM(\1,/p; s/^METRIC(\([A-Z_0-9]*\),.*/FIGURE(\1,/p' simulator/model/counters.def); do
    case $row in SUM\(LAUNCHES,) continue ;; esac # said of the kernel
    name=${row#*\(}
    grep -q "^COUNTER($name ASIDE," simulator/model/counters.def && continue
    holds "$row...) is in sections.def $(grep -cF "$row" simulator/model/sections.def) times" \
        [ "$(grep -cF "$row" simulator/model/sections.def)" = 1 ]
done

# ---- Sections

cat >"$scratch/saxpy.cu" <<'END'
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

int main()
{
    const int n = 1 << 20;
    float *x, *y;
    cudaMalloc(&x, n * 4);
    cudaMalloc(&y, n * 4);
    cudaMemset(x, 0, n * 4);
    cudaMemset(y, 0, n * 4);
    saxpy<<<n / 256, 256>>>(n, 2, x, y);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
}
END
builds_cuda saxpy
profile "$scratch/saxpy"
# 2^20 threads, each one FFMA, that is two operations for the 12 bytes that lie in L2.
shows 'warpwise: saxpy(int, float, float const*, float*), grid (4096,1,1), block (256,1,1)' \
    ' Section: GPU Speed Of Light Throughput' ' Section: GPU Speed Of Light Roofline Chart' ' Section: Compute Workload Analysis' \
    ' Section: Memory Workload Analysis' ' Section: Scheduler Statistics' ' Section: Warp State Statistics' ' Section: Launch Statistics' \
    ' Section: Occupancy' ' Section: Source Counters' \
    ' FFMA, by Threads inst ~1,048,576 smsp__sass_thread_inst_executed_op_ffma_pred_on.sum' \
    ' Arithmetic Intensity FLOP/byte ~0.17 roofline__intensity.ratio' ' By the roofline memory-bound: 0.167 FLOP per byte of L2, and the ridge' \
    ' Global Load Sectors/Req sector/req 4 l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio' \
    ' Global Load Requests request 65,536 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum' \
    ' Avg. Active Threads Per Warp thread ~32 100.0 %' ' Block Limit Warps block 8 launch__occupancy_limit_warps' \
    ' Grid Size block 4,096 launch__grid_size' ' Waves Per SM 3.88 launch__waves_per_multiprocessor' ' Bound by latency: '
holds 'a counter of 0 is shown' sh -c "! grep -q ' Divergent Branches' '$scratch/out'"
holds 'lines of figures before the name take more than 80 columns' sh -c \
    "simulator/run --profile '$scratch/saxpy' 2>&1 | grep '^    ' | sed 's/[a-z0-9]*__[a-z_0-9.]*\$//' | awk 'length > 80 { print; bad = 1 } END { exit bad }'"

# ---- Findings: a kernel with one fault, and the same without it (CURED), whose time the finding predicts

cat >"$scratch/faults.cu" <<'END'
#ifndef CURED
#define CURED 0
#endif
__global__ void columns(int n, const float *x, float *y)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    y[CURED ? r * n + c : c * n + r] = x[r * n + c];
}

__global__ void tile(int n, const float *x, float *y)
{
    __shared__ float t[32][32 + CURED];
    t[threadIdx.y][threadIdx.x] = x[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}

__global__ void count(int *sum)
{
    if (threadIdx.x == 0 || !CURED) atomicAdd(sum, CURED ? 256 : 1);
}

__global__ void part(float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i;
    if (i % (CURED ? 1 : 4) == 0)
        for (int k = 0; k < 400; k++) v = v * 1.0001f + 3;
    y[i] = v;
}

int main()
{
    const int n = 1024;
    float *x, *y;
    int *sum;
    cudaMalloc(&x, n * n * 4);
    cudaMalloc(&y, n * n * 4);
    cudaMalloc(&sum, 4);
    cudaMemset(x, 0, n * n * 4);
    cudaMemset(sum, 0, 4);
    columns<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, x, y);
    tile<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(n, x, y);
    count<<<4000, 256>>>(sum);
    part<<<800, 256>>>(y);
    part<<<1, 256>>>(y);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
    cudaFree(sum);
}
END
builds_cuda faults
sed 's/define CURED 0/define CURED 1/' "$scratch/faults.cu" >"$scratch/cured.cu"
builds_cuda cured

# found KERNEL PERCENT LINE...: the first finding of the kernel has these lines; cured, the kernel takes the time that was predicted
# without it, but for so much.
found() {
    kernel=$1 percent=$2
    shift 2
    profile --kernel "^$kernel\(" --launches 1 "$scratch/cured"
    due=$(awk '/^ Duration us/ { print substr($3, 2) }' "$scratch/out")
    profile --kernel "^$kernel\(" --launches 1 "$scratch/faults"
    sed -i -n '/^ Findings/,/^ 2\. /p' "$scratch/out"
    shows "$@"
    [ -z "$percent" ] || holds "$kernel: takes $due us without its fault" awk -v due="$due" -v percent="$percent" '
        /^ Predicted again without it/ { off = 100 * ($5 / due - 1) } END { exit !(due && off != "" && off < percent && -off < percent) }' "$scratch/out"
}

found columns 5 ' 1. Uncoalesced global stores at faults.cu:7: ' ' 7 | y[CURED ? r * n + c : c * n + r] = x[r * n + c];' \
    ' 32 sectors a request where 4 would do, of 32768 requests: 88 %' ' next: Let neighbouring threads write neighbouring elements'
found tile 5 ' 1. Shared memory bank conflicts at faults.cu:15: ' ' 1048576 wavefronts where 32768 would do: 32 times as many.'
found count 10 ' 1. Atomic contention at faults.cu:20: '
found part '' ' 1. Thread divergence at faults.cu:27: 6' ' By the model'
profile --kernel "^part" --launches 2 "$scratch/faults"
shows ' Of 132 SMs, 131 have nothing to do: the number of blocks is 1.'

nvcc -std=c++17 -O2 -cudart shared -gencode 'arch=compute_90,code=[compute_90,sm_90]' -o "$scratch/lineless" "$scratch/faults.cu" || exit 1
profile "$scratch/lineless"
shows ' 1. Uncoalesced global stores: 6' ' 1. Shared memory bank conflicts: ' ' 1. Atomic contention: ' ' 1. Thread divergence: 6'
holds 'it is not said that -lineinfo tells the lines' [ "$(grep -c ' of the time (nvcc -lineinfo tells the line)$' "$scratch/out")" -ge 4 ]

simulator/run --profile --json --kernel columns "$scratch/faults" 2>&1 >/dev/null | grep '"event":"kernel"' >"$scratch/out"
holds 'no findings in JSON' grep -q '"findings":\[{"title":"Uncoalesced global stores",.*"cost":0.6.*"file":".*faults.cu","line":7,"without_ns":' "$scratch/out"
simulator/run --json --kernel columns "$scratch/faults" 2>&1 >/dev/null | grep '"event":"kernel"' >"$scratch/out"
holds 'findings are made where nobody asks for them' sh -c "! grep -q findings '$scratch/out'"

# ---- Totals: many launches are a row for each kernel, and the details of the longest

cat >"$scratch/many.cu" <<'END'
#include <cuda_runtime.h>

namespace some { template <typename T> struct Pair { T a, b; }; }

__global__ void step(int *p, int n)
{
    for (int i = 0; i < n; i++) atomicAdd(p, 1);
}
template <typename T> __global__ void of_pairs(T *p, T *, T *, T *, T *) { p->a++; }
__global__ void rare(int *p) { p[1] = 1; }

int main()
{
    int *p, zero[2] = {};
    cudaMalloc(&p, 8);
    cudaMemset(p, 0, 8);
    for (int n = 0; n < 150; n++) step<<<1 + (n == 99), 32>>>(p, n == 99 ? 50 : 2);
    auto q = reinterpret_cast<some::Pair<int> *>(p);
    for (int n = 0; n < 50; n++) of_pairs<<<1, 1>>>(q, q, q, q, q);
    rare<<<1, 1>>>(p);
    for (int n = 0; n < 3; n++) cudaMemcpy(zero, p, 8, cudaMemcpyDeviceToHost);
    cudaFree(p);
}
END
builds_cuda many
profile "$scratch/many"
shows 'warpwise: copies DtoH, 3 times: 24 byte' 'warpwise: 3 kernels, 201 launches: ' 'warpwise: step(int*, int), grid (2,1,1), block (32,1,1): the longest of 150 launches, number 100; others had other grids' \
    'warpwise: void of_pairs<some::Pair<int> >(some::Pair<int>*, some::Pair<int>*, some::Pair<int>*, some::Pair<int>*, some::Pair<int>*), grid (1,1,1), block (1,1,1): the longest of 50 launches, number 1'
holds 'the row of 150 launches is not the sum of them' awk '/ step\(int\*, int\)$/ { found = $3 == 150 && $5 == "us" && $4 / $6 > 149 && $4 / $6 < 151 && $8 < $6 && $10 > $6 } END { exit !found }' "$scratch/out"
holds 'a long signature is not cut in the table' grep -q ' void of_pairs<Pair<int> >(Pair<int>\*, Pair<int>\*, Pair<in\.\.\.$' "$scratch/out"
holds 'a kernel of less than 1 % has a page' sh -c "! grep -q '^warpwise: rare' '$scratch/out'"
shows 'warpwise: the last 1 kernel of the table: --kernel REGEX shows'
profile --kernel rare "$scratch/many"
shows 'warpwise: rare(int*), grid (1,1,1), block (1,1,1)'
profile --kernel step --launches 100-101 "$scratch/many"
holds 'two launches are not two pages' [ "$(grep -c '^warpwise: step' "$scratch/out")" = 2 ]

# ---- The same as a page for a browser

page=$scratch/page.html
simulator/run --html "$page" "$scratch/faults" >"$scratch/out" 2>&1
holds '--html prints' [ ! -s "$scratch/out" ]
# has WORDS...: the page has them.
has() {
    for words; do holds "the page lacks: $words" grep -qF -- "$words" "$page"; done
}
holds 'the page is not well-formed' python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$page"
holds 'the page needs more than itself' sh -c "! grep -qE '<script|<link|src=|https?:|@import|url\\(' '$page'"
grep -o ' id="[^"]*"' "$page" | sed 's/ id="//' | sort >"$scratch/ids"
holds 'the page has an id twice' [ -z "$(uniq -d "$scratch/ids")" ]
grep -o 'href="#[^"]*"' "$page" | sed 's/href="#//' | sort -u | comm -23 - "$scratch/ids" >"$scratch/astray"
holds "the page links to what is not there: $(cat "$scratch/astray")" [ ! -s "$scratch/astray" ]
has 'No errors were found.' '<a href="#p0k1-faults.cu-20">faults.cu:20</a>' 'Shared memory bank conflicts at' '<h3>GPU Speed Of Light Throughput</h3>' \
    '<code>smsp__inst_executed.sum</code>' '<svg viewBox=' '    if (threadIdx.x == 0 || !CURED) atomicAdd(sum, CURED ? 256 : 1);' '__global__ void columns(int n, const float *x, float *y)'
sed 's|float v = i;|& // <b>\&amp; \xe9|; /cudaFree(sum)/d' "$scratch/faults.cu" >"$scratch/odd.cu"
builds_cuda odd
simulator/run --html "$page" "$scratch/odd" '<&' >"$scratch/out" 2>&1
has '1 error: leak' 'odd &lt;&amp;</h1>' "float v = i; // &lt;b&gt;&amp;amp; $(printf '\357\277\275')</td>"
holds 'the page is not well-formed' python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$page"
rm "$scratch/odd.cu"
simulator/run --html "$page" --kernel tile "$scratch/odd" >"$scratch/out" 2>&1
has '(the file is not there)'
simulator/run --html "$scratch/none/page.html" true >"$scratch/out" 2>&1
holds 'it is not said that the page cannot be written' grep -q 'cannot write .*page.html: No such file' "$scratch/out"
simulator/run --html "$page" true >"$scratch/out" 2>&1
has 'No kernel ran, and nothing was copied.'

done_with profile
