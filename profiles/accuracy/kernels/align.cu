// Alignment of two strings by dynamic programming (Smith and Waterman, 1981): the diagonals of a table in shared memory, a
// barrier each; and a column a lane, whose neighbours shuffle.
#include "exercise.h"

enum { THREADS = 128, LETTERS = 64, MOST = 1 << 22 };

static __device__ __forceinline__ void diagonals(int *out, const unsigned char *text)
{
    __shared__ int table[3][THREADS + 1];
    __shared__ unsigned char across[LETTERS];
    int t = threadIdx.x, best = 0;
    unsigned char mine = text[(blockIdx.x * THREADS + t) % 65536];
    if (t < LETTERS)
        across[t] = text[(blockIdx.x * LETTERS + 4096 + t) % 65536];
    for (int n = 0; n < 3; n++) {
        table[n][t + 1] = 0;
        if (t == 0)
            table[n][0] = 0;
    }
    int before = 0, last = 1, now = 2;
#pragma unroll 1
    for (int d = 0; d < THREADS + LETTERS; d++) {
        __syncthreads();
        int j = d - t, value = 0;
        if (j >= 0 && j < LETTERS) {
            int match = table[before][t] + (across[j] == mine ? 3 : -2);
            value = max(max(0, match), max(table[last][t], table[last][t + 1]) - 1);
        }
        table[now][t + 1] = value;
        best = max(best, value);
        int kept = before;
        before = last, last = now, now = kept;
    }
    out[(blockIdx.x * THREADS + t) % MOST] = best;
}

static __device__ __forceinline__ void columns(int *out, const unsigned char *text)
{
    int warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned char mine = text[(warp * 32 + lane) % 65536];
    const unsigned char *across = text + warp * 64 % 32768;
    int up = 0, diagonal = 0, best = 0;
#pragma unroll 1
    for (int d = 0; d < LETTERS + 31; d++) {
        int left = __shfl_up_sync(~0u, up, 1), j = d - lane;
        if (lane == 0)
            left = 0;
        int match = diagonal + (j >= 0 && j < LETTERS && across[j & 63] == mine ? 3 : -2);
        diagonal = left;
        up = max(max(0, match), max(left, up) - 1);
        best = max(best, up);
    }
    out[(blockIdx.x * THREADS + threadIdx.x) % MOST] = best;
}

IN_GRIDS(align_diagonals, THREADS, (int *out, const unsigned char *text), diagonals(out, text))
IN_GRIDS(align_columns, THREADS, (int *out, const unsigned char *text), columns(out, text))

static unsigned char *text;
static int *out;

int main(int count, char **arguments)
{
    text = input<unsigned char>(1 << 17, [](size_t) { return (unsigned char)(random_word() >> 30); });
    out = output<int>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("", align_diagonals, THREADS, 0, out, text),
        GRIDS_OF("", align_columns, THREADS, 0, out, text),
    });
}
