// accesses FIRST LAST: one kernel for each number, of one warp, whose one access of note is drawn: what is done, to what memory, in how many bytes
// a lane, which lanes take part and at which places. A line for each says what it is, and sums up what was loaded and what memory holds in the
// end, where that does not hang on which lane is the last to store.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t error_ = (call);                                                            \
        if (error_) fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)), exit(1);    \
    } while (0)

enum { LANES = 32, PLACES = 2048, SHARED_PLACES = 1024, LOCAL_PLACES = 48 };
struct Plan {
    int place[LANES];
    unsigned lanes;
};
__constant__ Plan plan;

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

template <typename T> __device__ T value_of(int lane) { return (T)(lane * 2654435761u >> 7); }
template <> __device__ uint4 value_of(int lane) { return make_uint4(lane, lane + 7, 3 * lane, ~lane); }
template <> __device__ float value_of(int lane) { return (float)lane; }

// What a lane does to memory `at`; what it returns is seen.
#define ACCESS(name, ...) struct name { template <typename T> static __device__ T access(T *at, int lane) { __VA_ARGS__ } }
ACCESS(Load, return *at;);
ACCESS(Store, *at = value_of<T>(lane); return T(););
ACCESS(Add, atomicAdd(at, value_of<T>(lane)); return T(););
ACCESS(Increment, atomicAdd(at, T(1)); return T(););
ACCESS(Max, atomicMax(at, value_of<T>(lane)); return T(););
ACCESS(FetchAdd, return atomicAdd(at, value_of<T>(lane)););
ACCESS(FetchIncrement, return atomicAdd(at, T(1)););
ACCESS(FetchMax, return atomicMax(at, value_of<T>(lane)););
ACCESS(Exchange, return atomicExch(at, value_of<T>(lane)););
ACCESS(Swap, return atomicCAS(at, value_of<T>(lane + 1), value_of<T>(lane)););

template <class Access, typename T> __global__ void in_global(T *memory, T *out)
{
    int lane = threadIdx.x;
    if (plan.lanes >> lane & 1) out[lane] = Access::access(&memory[plan.place[lane]], lane);
}

template <class Access, typename T> __global__ void in_shared(T *memory, T *out)
{
    __shared__ T tile[SHARED_PLACES];
    int lane = threadIdx.x;
    for (int k = lane; k < SHARED_PLACES; k += LANES) tile[k] = memory[k];
    __syncwarp();
    if (plan.lanes >> lane & 1) out[lane] = Access::access(&tile[plan.place[lane]], lane);
    __syncwarp();
    for (int k = lane; k < SHARED_PLACES; k += LANES) memory[k] = tile[k];
}

template <class Access, typename T> __global__ void in_local(T *memory, T *out)
{
    T array[LOCAL_PLACES];
    int lane = threadIdx.x;
    for (int k = 0; k < LOCAL_PLACES; k++) array[k] = memory[k * LANES + lane];
    if (plan.lanes >> lane & 1) out[lane] = Access::access(&array[plan.place[lane]], lane);
    for (int k = 0; k < LOCAL_PLACES; k++) memory[k * LANES + lane] = array[k];
}

// An asynchronous copy, from memory[place] or memory[lane] to such a place of shared memory.
template <typename T, bool from_there, bool to_there> __global__ void copied(T *memory, T *out)
{
    __shared__ T tile[SHARED_PLACES];
    int lane = threadIdx.x, place = to_there ? plan.place[lane] : lane;
    for (int k = lane; k < SHARED_PLACES; k += LANES) tile[k] = T();
    __syncwarp();
    if (plan.lanes >> lane & 1) {
        __pipeline_memcpy_async(&tile[place], &memory[from_there ? plan.place[lane] : lane], sizeof(T));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        out[lane] = tile[place];
    }
}

typedef struct Kind {
    const char *name;
    int room;               // places
    bool stores;            // what lanes want to have at one place may differ
    void (*launch)(void *memory, void *out);
} Kind;

#define KIND(name, room, T, stores, ...) { name, room, stores, [](void *memory, void *out) { __VA_ARGS__<<<1, LANES>>>((T *)memory, (T *)out); } }
#define IS_STORE(access) (#access[0] == 'S' && #access[1] == 't')
#define COPIED(T) \
    KIND("copied from " #T, PLACES, T, false, copied<T, true, false>), KIND("copied to " #T, SHARED_PLACES, T, true, copied<T, false, true>), \
    KIND("copied from and to " #T, SHARED_PLACES, T, false, copied<T, true, true>)
#define IN_GLOBAL(access, T) KIND("global " #access " " #T, PLACES, T, IS_STORE(access), in_global<access, T>)
#define IN_SHARED(access, T) KIND("shared " #access " " #T, SHARED_PLACES, T, IS_STORE(access), in_shared<access, T>)
#define IN_LOCAL(access, T) KIND("local " #access " " #T, LOCAL_PLACES, T, false, in_local<access, T>)
static const Kind kinds[] = {
    IN_GLOBAL(Load, u8), IN_GLOBAL(Load, u16), IN_GLOBAL(Load, u32), IN_GLOBAL(Load, u64), IN_GLOBAL(Load, uint4),
    IN_GLOBAL(Store, u8), IN_GLOBAL(Store, u16), IN_GLOBAL(Store, u32), IN_GLOBAL(Store, u64), IN_GLOBAL(Store, uint4),
    IN_GLOBAL(Add, u32), IN_GLOBAL(Add, u64), IN_GLOBAL(Add, float), IN_GLOBAL(Increment, u32), IN_GLOBAL(Max, u32),
    IN_GLOBAL(FetchAdd, u32), IN_GLOBAL(FetchAdd, u64), IN_GLOBAL(FetchAdd, float), IN_GLOBAL(FetchIncrement, u32), IN_GLOBAL(FetchMax, u64),
    IN_GLOBAL(Exchange, u32), IN_GLOBAL(Swap, u32), IN_GLOBAL(Swap, u64),
    IN_SHARED(Load, u8), IN_SHARED(Load, u16), IN_SHARED(Load, u32), IN_SHARED(Load, u64), IN_SHARED(Load, uint4),
    IN_SHARED(Store, u8), IN_SHARED(Store, u16), IN_SHARED(Store, u32), IN_SHARED(Store, u64), IN_SHARED(Store, uint4),
    IN_SHARED(Add, u32), IN_SHARED(Increment, u32), IN_SHARED(Max, u32), IN_SHARED(FetchAdd, u32), IN_SHARED(FetchIncrement, u32),
    IN_SHARED(FetchMax, u32), IN_SHARED(Exchange, u32), IN_SHARED(Exchange, u64), IN_SHARED(Swap, u32), IN_SHARED(Swap, u64),
    IN_LOCAL(Load, u8), IN_LOCAL(Load, u32), IN_LOCAL(Load, u64), IN_LOCAL(Load, uint4),
    IN_LOCAL(Store, u8), IN_LOCAL(Store, u32), IN_LOCAL(Store, u64), IN_LOCAL(Store, uint4),
    COPIED(u32), COPIED(u64), COPIED(uint4),
};

static u64 state;

static int drawn(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % below);
}

static unsigned draw_lanes(void)
{
    static const unsigned some[] = { 0xffff, 0xffff0000, 0x55555555, 0xff, 0xff00ff, 0xf0f0f0f0, 0x7fffffff, 0xffffff };
    switch (drawn(6)) {
    case 0: return some[drawn(sizeof some / sizeof *some)];
    case 1: return (u32)drawn(1 << 16) << 16 | drawn(1 << 16) | 1u << drawn(LANES);
    case 2: return 1u << drawn(LANES);
    default: return ~0u;
    }
}

static Plan draw(int room)
{
    static const int sizes[] = { 1, 2, 4, 8, 16 };
    Plan p = { {}, draw_lanes() };
    int way = drawn(8), first = drawn(room), size = sizes[drawn(5)], a = drawn(4) ? drawn(9) : drawn(room), b = drawn(5), few = 1 + drawn(room);
    int twist = drawn(LANES), odd = drawn(4), at[LANES];
    if (drawn(2)) first -= first % 16;
    if (drawn(2)) few = 1 + few % 40;
    for (int l = 0; l < LANES; l++) at[l] = drawn(few);
    for (int l = 0; l < LANES; l++) {
        int place = way == 0 ? l : way == 1 ? a * l : way == 2 ? LANES - 1 - l : way == 3 ? l / size * a + l % size * b
                  : way == 4 ? l ^ twist : way == 5 ? at[l] : way == 6 ? at[l / size] : at[l % size] + (b > 2 ? 0 : l / size);
        p.place[l] = (first + place) % room;
    }
    while (odd-- > 1) {
        int lane = drawn(LANES);
        p.place[lane] = drawn(room);
    }
    return p;
}

static bool meet(const Plan *p)
{
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < l; k++)
            if (p->lanes >> l & p->lanes >> k & 1 && p->place[k] == p->place[l]) return true;
    return false;
}

static u64 sum_of(const void *bytes, size_t count)
{
    u64 sum = 14695981039346656037u;
    while (count--) sum = (sum ^ ((const u8 *)bytes)[count]) * 1099511628211u;
    return sum >> 32;
}

int main(int argc, char **argv)
{
    static uint4 filled[PLACES], memory[PLACES], out[LANES];
    void *there, *got;
    if (argc != 3) return fprintf(stderr, "usage: accesses FIRST LAST\n"), 1;
    CHECK(cudaMalloc(&there, sizeof filled));
    CHECK(cudaMalloc(&got, sizeof out));
    for (size_t k = 0; k < sizeof filled; k++) ((u8 *)filled)[k] = k * 2654435761u >> 13;
    for (int n = atoi(argv[1]); n <= atoi(argv[2]); n++) {
        state = n * 7919ull;
        for (int k = 0; k < 4; k++) drawn(2);
        const Kind *kind = &kinds[n % (sizeof kinds / sizeof *kinds)];
        Plan p = draw(kind->room);
        CHECK(cudaMemcpy(there, filled, sizeof filled, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(got, 0, sizeof out));
        CHECK(cudaMemcpyToSymbol(plan, &p, sizeof p));
        kind->launch(there, got);
        CHECK(cudaMemcpy(memory, there, sizeof memory, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(out, got, sizeof out, cudaMemcpyDeviceToHost));
        printf("%d %s:", n, kind->name);
        if (kind->stores && meet(&p)) printf(" whose lane stores last decides");
        else printf(" %08llx %08llx", sum_of(out, sizeof out), sum_of(memory, sizeof memory));
        printf("\n");
    }
    CHECK(cudaFree(there));
    CHECK(cudaFree(got));
}
