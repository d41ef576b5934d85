// expect: exit 0
// migrations: DtoH cpu-fault 0 4, HtoD prefetch 65536 0, HtoD prefetch 65536 0, HtoD prefetch 65536 0, DtoH prefetch 65536 0, DtoH cpu-fault 0 1, DtoH cpu-fault 65536 1, DtoH cpu-fault 0 1
// Lists of copies and of prefetches, in one call each: every one is done, with what is said of it, and what is discarded
// needs no moving.
#include "check.h"

enum { GROUP = 65536, ROWS = 3, COLUMNS = 5, SLICES = 2, WIDE = 16 };

static cudaStream_t stream;

static void copies()
{
    char host[64], *a, *b, back[64] = { 0 };
    for (int i = 0; i < 64; i++) host[i] = (char)i;
    OK(cudaMalloc(&a, 64));
    OK(cudaMalloc(&b, 64));
    void *to[] = { a, a + 40 };
    const void *from[] = { host, host + 40 };
    size_t bytes[] = { 40, 24 }, first[] = { 0, 1 };
    cudaMemcpyAttributes how[2] = {};
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    how[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    OK(cudaMemcpyBatchAsync(to, from, bytes, 2, how, first, 2, stream));
    OK(cudaMemcpyAsync(back, a, 64, cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 64; i++) CHECK(back[i] == i);

    // Slices of rows that lie apart in the one, and one behind the other in the other.
    char *wide, packed[SLICES * ROWS * COLUMNS], all[SLICES * ROWS * WIDE];
    for (int i = 0; i < SLICES * ROWS * WIDE; i++) all[i] = (char)i;
    OK(cudaMalloc(&wide, sizeof all));
    cudaMemcpy3DBatchOp boxes[2] = {};
    boxes[0].src.type = boxes[0].dst.type = boxes[1].src.type = boxes[1].dst.type = cudaMemcpyOperandTypePointer;
    boxes[0].srcAccessOrder = boxes[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    boxes[0].src.op.ptr.ptr = all, boxes[0].dst.op.ptr.ptr = wide;
    boxes[0].extent = make_cudaExtent(WIDE, ROWS, SLICES);
    OK(cudaMemcpy3DBatchAsync(1, boxes, 0, stream));
    boxes[1].src.op.ptr.ptr = wide, boxes[1].src.op.ptr.rowLength = WIDE, boxes[1].dst.op.ptr.ptr = packed;
    boxes[1].extent = make_cudaExtent(COLUMNS, ROWS, SLICES);
    OK(cudaMemcpy3DBatchAsync(1, boxes + 1, 0, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < SLICES * ROWS * COLUMNS; i++) CHECK(packed[i] == i / COLUMNS * WIDE + i % COLUMNS);

    // All rows of each slice but its last: the slices lie apart, too.
    enum { FEW = ROWS - 1 };
    boxes[1].src.op.ptr.layerHeight = ROWS;
    boxes[1].extent = make_cudaExtent(COLUMNS, FEW, SLICES);
    OK(cudaMemcpy3DBatchAsync(1, boxes + 1, 0, stream));
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < SLICES * FEW * COLUMNS; i++)
        CHECK(packed[i] == (i / COLUMNS / FEW * ROWS + i / COLUMNS % FEW) * WIDE + i % COLUMNS);
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(wide));
}

static void prefetches()
{
    char *m;
    OK(cudaMallocManaged(&m, 4 * GROUP));
    for (int i = 0; i < 4 * GROUP; i += 4096) m[i] = 1;
    void *ranges[] = { m, m + GROUP, m + 2 * GROUP };
    size_t bytes[] = { GROUP, GROUP, GROUP }, first[] = { 0, 1 };
    cudaMemLocation places[] = { { cudaMemLocationTypeDevice, 0 }, { cudaMemLocationTypeHost, 0 } };
    OK(cudaMemPrefetchBatchAsync(ranges, bytes, 2, places, first, 1, 0, stream));               // two to the device
    void *swapped[] = { m + 2 * GROUP, m + GROUP };
    OK(cudaMemPrefetchBatchAsync(swapped, bytes, 2, places, first, 2, 0, stream));      // one there, and one back
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemDiscardBatchAsync(ranges, bytes, 1, 0, stream));
    OK(cudaMemDiscardAndPrefetchBatchAsync(ranges + 1, bytes, 1, places, first, 1, 0, stream));
    OK(cudaStreamSynchronize(stream));
    m[0] = 2;                           // it lay nowhere
    OK(cudaStreamSynchronize(stream));
    m[2 * GROUP] = 3;                   // the device has that
    OK(cudaStreamSynchronize(stream));
    CHECK(m[0] == 2 && m[2 * GROUP] == 3);
    OK(cudaFree(m));
}

int main()
{
    OK(cudaStreamCreate(&stream));
    copies();
    prefetches();
    OK(cudaStreamDestroy(stream));
    return 0;
}
