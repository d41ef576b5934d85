// The peer: a copy within the GPU's memory, against which submissions are timed. A thread moves 16 bytes,
// and the many threads keep as many loads on their way: on an H200 as fast as cudaMemcpy, and faster than
// threads that move more, or blocks that stay and stride.

enum { THREADS = 256 };

__global__ void copy_kernel(float4 *out, const float4 *in, long long n)
{
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

// n is a multiple of 4, and both are aligned to 16 bytes.
extern "C" void copy(float *out, const float *in, long long n)
{
    long long vectors = n / 4;
    copy_kernel<<<(vectors + THREADS - 1) / THREADS, THREADS>>>((float4 *)out, (const float4 *)in, vectors);
}

// The other peer, "bus": from the host to the GPU and back, nothing else, both ways at once. A piece's way back begins when its
// way there has ended, while the next one is on its way there; so it takes as long as either way, and a piece more.
enum { PIECE = 1 << 20, PIECES = 4 };   // floats; under way at a time

extern "C" void bus(float *out, const float *in, long long n)
{
    static cudaStream_t stream[PIECES];
    static float *piece[PIECES];
    for (int p = 0; p < PIECES && !piece[p]; p++)
        if (cudaStreamCreate(&stream[p]) != cudaSuccess || cudaMalloc(&piece[p], PIECE * sizeof(float)) != cudaSuccess)
            return;                     // the copy is found not to be there

    for (long long first = 0; first < n; first += PIECE) {
        int p = first / PIECE % PIECES;
        size_t bytes = (n - first < PIECE ? n - first : PIECE) * sizeof(float);
        cudaMemcpyAsync(piece[p], in + first, bytes, cudaMemcpyHostToDevice, stream[p]);
        cudaMemcpyAsync(out + first, piece[p], bytes, cudaMemcpyDeviceToHost, stream[p]);
    }
    cudaDeviceSynchronize();
}
