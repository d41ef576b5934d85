// expect: exit 0
// counts: halves l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 2
// counts: halves l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 4
// counts: tile l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 4
// counts: twice l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 2
// counts: pairs l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 2
// counts: backwards l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 4
// counts: touching l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 4
// counts: some l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 2
// counts: bytes l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 1
// Each kernel is one warp that reads places of one shape and writes what it got, in types of every width.
#include "check.h"

enum { WARP = 32, MOST = 4096 };

#define SHAPE(name, T, place)                                               \
    __global__ void name(T *out, const T *in)                               \
    {                                                                       \
        int l = threadIdx.x;                                                \
        out[l] = in[place];                                                 \
    }                                                                       \
    static int place_of_##name(int l) { return place; }

SHAPE(halves, float, l / 16 * 100)
SHAPE(tile, float, l / 16 * 64 + l % 16)
SHAPE(twice, float, l % 16)
SHAPE(pairs, float, l / 2)
SHAPE(backwards, float, 31 - l)
SHAPE(touching, int, l < 16 ? l : 40 - l + 4)
SHAPE(quads, double, l / 8 * 32 + l % 8)
SHAPE(far_doubles, double, l / 16 * 100)
SHAPE(bytes, unsigned char, l)
SHAPE(signs, signed char, 3 * l)
SHAPE(shorts, short, 31 - l)
SHAPE(crossed, long long, l ^ 5)

__global__ void some(float *out, const float *in)
{
    int l = threadIdx.x;
    if (l % 11 != 5) out[l] = in[l < 16 ? l : 8];
    else out[l] = -1;
}

__global__ void vectors(float4 *out, const float4 *in) { out[threadIdx.x] = in[threadIdx.x * 7 % 32]; }

// Lanes of one store at one place: the highest of them stays.
__global__ void stores(int *out)
{
    __shared__ int tile[2][WARP];
    int l = threadIdx.x;
    tile[l / 16][l % 16 * 2] = l;
    tile[1 - l / 16][l % 16 * 2 + 1] = -l;
    __syncthreads();
    out[l] = tile[l % 2][l];
}

template <typename T> void try_shape(void (*kernel)(T *, const T *), int (*place)(int))
{
    static T host[MOST], got[WARP];
    T *in, *out;
    for (int k = 0; k < MOST; k++) host[k] = (T)(k * 37 % 251);
    CHECK(cudaMalloc(&in, sizeof host) == cudaSuccess && cudaMalloc(&out, sizeof got) == cudaSuccess);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);
    kernel<<<1, WARP>>>(out, in);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int l = 0; l < WARP; l++) CHECK(place(l) < 0 ? got[l] == (T)-1 : got[l] == host[place(l)]);
    CHECK(cudaFree(in) == cudaSuccess && cudaFree(out) == cudaSuccess);
}

static void try_vectors(void)
{
    float4 host[WARP], got[WARP], *in, *out;
    for (int k = 0; k < WARP; k++) host[k] = make_float4(k, k + 0.25f, k + 0.5f, k + 0.75f);
    CHECK(cudaMalloc(&in, sizeof host) == cudaSuccess && cudaMalloc(&out, sizeof got) == cudaSuccess);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);
    vectors<<<1, WARP>>>(out, in);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int l = 0; l < WARP; l++) {
        float4 want = host[l * 7 % 32];
        CHECK(got[l].x == want.x && got[l].y == want.y && got[l].z == want.z && got[l].w == want.w);
    }
    CHECK(cudaFree(in) == cudaSuccess && cudaFree(out) == cudaSuccess);
}

static void try_stores(void)
{
    int got[WARP], *out;
    CHECK(cudaMalloc(&out, sizeof got) == cudaSuccess);
    stores<<<1, WARP>>>(out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int l = 0; l < WARP; l++) CHECK(got[l] == (l % 2 ? -(l / 2) : l / 2));
    CHECK(cudaFree(out) == cudaSuccess);
}

static int place_of_some(int l) { return l % 11 == 5 ? -1 : l < 16 ? l : 8; }

int main()
{
#define TRY(name) try_shape(name, place_of_##name)
    TRY(halves), TRY(tile), TRY(twice), TRY(pairs), TRY(backwards), TRY(touching), TRY(quads), TRY(far_doubles);
    TRY(bytes), TRY(signs), TRY(shorts), TRY(crossed), TRY(some);
    try_vectors();
    try_stores();
}
