// expect: exit 0
// A hash table with open addressing: keys are claimed by compare and swap, their values are 64-bit sums, and what is not there
// is not found. And a checksum of bytes, FNV-1a, whose host reference is another loop.
#include <string.h>

#include <map>

#include "numbers.h"

enum { SLOTS = 2048, EMPTY = -1 };

struct Table { int key[SLOTS]; unsigned long long sum[SLOTS]; };

__device__ unsigned hash(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__global__ void clear(Table *t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SLOTS) t->key[i] = EMPTY, t->sum[i] = 0;
}

__global__ void insert(Table *t, const int *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned slot = hash(keys[i]) % SLOTS;; slot = (slot + 1) % SLOTS) {
        int before = atomicCAS(&t->key[slot], EMPTY, keys[i]);
        if (before != EMPTY && before != keys[i]) continue;
        atomicAdd(&t->sum[slot], (1ull << 40) + i);
        return;
    }
}

__global__ void look_up(double *out, const Table *t, const int *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = -1;
    for (unsigned slot = hash(keys[i]) % SLOTS; t->key[slot] != EMPTY; slot = (slot + 1) % SLOTS)
        if (t->key[slot] == keys[i]) out[i] = (double)t->sum[slot];
}

__global__ void checksum(unsigned long long *out, const unsigned char *text, int length)
{
    unsigned long long h = 0xcbf29ce484222325ull;
    for (int i = threadIdx.x; i < length; i += 32) h = (h ^ text[i]) * 0x100000001b3ull;
    out[threadIdx.x] = h;
}

static void try_checksum()
{
    static const char text[] = "A warp has thirty-two lanes, and they run one instruction at a time.";
    std::vector<unsigned char> bytes(text, text + strlen(text));
    unsigned char *in = on_device(bytes);
    unsigned long long *out = room_for<unsigned long long>(32);
    checksum<<<1, 32>>>(out, in, (int)bytes.size());
    std::vector<unsigned long long> got = from_device(out, 32);
    for (int lane = 0; lane < 32; lane++) {
        unsigned __int128 h = 0xcbf29ce484222325ull;
        for (size_t i = lane; i < bytes.size(); i += 32) h = (unsigned long long)((h ^ bytes[i]) * 0x100000001b3ull);
        CHECK(got[lane] == (unsigned long long)h);
    }
    free_all(in, out);
}

int main()
{
    int n = 1500;
    std::vector<int> keys = whole_numbers(n, 81, 1000), asked = whole_numbers(n, 82, 2000);
    std::map<int, unsigned long long> sums;
    for (int i = 0; i < n; i++) sums[keys[i]] += (1ull << 40) + i;
    std::vector<double> want;
    for (int key : asked) want.push_back(sums.count(key) ? (double)sums[key] : -1);
    int *in = on_device(keys), *questions = on_device(asked);
    double *out = room_for<double>(n);
    Table *table = room_for<Table>(1);
    clear<<<SLOTS / 256, 256>>>(table);
    insert<<<6, 256>>>(table, in, n);
    look_up<<<6, 256>>>(out, table, questions, n);
    check_close(from_device(out, n), want, 0);
    free_all(in, questions, out, table);
    try_checksum();
}
