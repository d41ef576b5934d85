// What an H200's L2 counts where less than a granule of DRAM, two sectors, is asked for (simulator/model/l2.c):
//
//     nvcc -O3 -arch=sm_90 granules.cu -o granules
//     ncu --kernel-name granules --metrics lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum,... ./granules
//
// One multiprocessor does something to sectors of each of 32,768 lines, and then something else; it prints what. granules.txt has what
// ncu counted.
#include "kernels/exercise.h"

enum { LINES = 1 << 15, WORDS = 32, SECTOR_WORDS = 8, THREADS = 1024 };
enum What { NOTHING, READ, STORE, STORE_WORD, ADD };

// To `sectors` of a line from `first` on, of which a warp asks for at once.
struct Step {
    What what;
    int first, sectors;
};

static __device__ int *place(int *lines, Step s, int i) { return lines + i / s.sectors * WORDS + (s.first + i % s.sectors) * SECTOR_WORDS; }

static __device__ int does(int *lines, Step s)
{
    int sum = 0, all = LINES * s.sectors;
    if (s.what == READ)
        for (int i = threadIdx.x; i < all; i += THREADS)
            sum += __ldcg(place(lines, s, i));
    if (s.what == STORE)
        for (int i = threadIdx.x; i < all * SECTOR_WORDS; i += THREADS)
            place(lines, s, i / SECTOR_WORDS)[i % SECTOR_WORDS] = i;
    if (s.what == STORE_WORD)
        for (int i = threadIdx.x; i < all; i += THREADS)
            *place(lines, s, i) = i;
    if (s.what == ADD)
        for (int i = threadIdx.x; i < all; i += THREADS)
            atomicAdd(place(lines, s, i), 1);
    __threadfence();
    __syncthreads();
    return sum;
}

KERNEL granules(int *lines, Step one, Step other)
{
    int sum = does(lines, one);
    sum += does(lines, other);
    if (sum == 12345)
        *lines = sum;
}

int main()
{
    static const char *const names[] = { "-", "read", "store", "store_word", "add" };
    static const struct { Step one, other; } tries[] = {
        { { READ, 0, 1 } },  { { READ, 0, 1 }, { READ, 0, 1 } },  { { READ, 0, 1 }, { READ, 1, 1 } },  { { READ, 1, 1 }, { READ, 0, 1 } },
        { { READ, 0, 1 }, { READ, 2, 1 } },  { { READ, 0, 2 } },  { { READ, 1, 2 } },  { { READ, 1, 3 } },
        { { ADD, 0, 1 } },  { { ADD, 0, 1 }, { ADD, 1, 1 } },  { { ADD, 0, 1 }, { READ, 1, 1 } },  { { READ, 0, 1 }, { ADD, 1, 1 } },
        { { STORE, 0, 1 } },  { { STORE, 0, 1 }, { READ, 0, 1 } },  { { STORE, 0, 1 }, { READ, 1, 1 } },  { { STORE, 0, 1 }, { ADD, 1, 1 } },
        { { STORE_WORD, 0, 1 }, { READ, 0, 1 } },  { { STORE_WORD, 0, 1 }, { READ, 1, 1 } },
    };
    const size_t other = (128 << 20) / sizeof(uint4);      // fills L2 twice
    int *lines = output<int>(LINES * WORDS);
    uint4 *others = output<uint4>(other);
    for (auto &t : tries) {
        printf("%s %d %d %s %d %d\n", names[t.one.what], t.one.first, t.one.sectors, names[t.other.what], t.other.first, t.other.sectors);
        empty_caches<<<1056, 256>>>(others, other, (unsigned *)others);
        granules<<<1, THREADS>>>(lines, t.one, t.other);
        OK(cudaGetLastError());
        OK(cudaDeviceSynchronize());
    }
    return 0;
}
