// The kernels that the groups launch.
#include <assert.h>
#include <stdio.h>

extern "C" {
__device__ int variable[16];
__constant__ int constant[16];

__global__ void nothing() {}
__global__ void add_one(int *p) { atomicAdd(p, 1); }
__global__ void write_at(char *p) { *p = 1; }
__global__ void misaligned(char *p) { *(int *)(p + 1) = 1; }
__global__ void trap() { asm("trap;"); }
__global__ void fail_assert(int x) { assert(x); }
__global__ void __launch_bounds__(256) bounded(int *p) { *p = constant[threadIdx.x & 15] + variable[threadIdx.x & 15]; }

__global__ void dynamic_shared(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    *p = s[threadIdx.x];
}

__global__ void static_shared(int *p)
{
    __shared__ int s[1024];
    s[threadIdx.x] = *p;
    __syncthreads();
    *p = s[threadIdx.x ^ 1];
}

__global__ void past_shared(int at, int *p)
{
    __shared__ int s[16];
    s[threadIdx.x] = 1;
    s[at] = 2;
    *p = s[threadIdx.x];
}

__noinline__ __device__ int deep(int n, int *p)
{
    volatile int room[256];
    room[n & 255] = n;
    return n < 0 ? *p : deep(n + 1, p) + room[(n + 1) & 255];
}
__global__ void recurse(int n, int *p) { *p = deep(n, p); }

__global__ void call_null(int *p)
{
    int (*f)(int) = *(int (**)(int))p;
    *p = f(1);
}

__global__ void last_for(int milliseconds) { for (int i = 0; i < milliseconds * 100; i++) __nanosleep(10000); }

// ---- Copies in bulk: 1024 bytes of shared memory, of which `at` tells where; the other end is in global memory.
__global__ void bulk(int stores, unsigned at, unsigned bytes, char *global)
{
    __shared__ alignas(128) char s[1024];
    __shared__ unsigned long long place;
    unsigned mine = (unsigned)__cvta_generic_to_shared(s) + at, barrier = (unsigned)__cvta_generic_to_shared(&place), over = 0;
    s[at & 1023] = 1;
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" :: "r"(barrier) : "memory");
    if (stores) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                     :: "l"(global), "r"(mine), "r"(bytes) : "memory");
        return;
    }
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(mine), "l"(global), "r"(bytes), "r"(barrier) : "memory");
    for (int i = 0; i < 1000 && !over; i++) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(over) : "r"(barrier) : "memory");
        __nanosleep(1000);
    }
}

__global__ void copy_async(unsigned at, const char *global)
{
    __shared__ alignas(128) char s[1024];
    s[at & 1023] = 1;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" :: "r"((unsigned)__cvta_generic_to_shared(s) + at), "l"(global) : "memory");
}

// ---- malloc and free in kernels

__global__ void allocate(size_t bytes, size_t *found)
{
    void *p = malloc(bytes);
    *found = p != 0;
    free(p);
}

// How many blocks of so many bytes there is room for.
__global__ void allocate_all(size_t bytes, size_t *found)
{
    *found = 0;
    while (malloc(bytes)) ++*found;
}

// The largest block, to the byte.
__global__ void allocate_most(size_t *found)
{
    size_t less = 0, more = (size_t)1 << 40;
    while (more - less > 1) {
        size_t bytes = less + (more - less) / 2;
        void *p = malloc(bytes);
        free(p);
        *(p ? &less : &more) = bytes;
    }
    *found = less;
}

__global__ void free_null() { free(0); }
__global__ void free_twice() { void *p = malloc(16); free(p); free(p); }
__global__ void free_made_up() { free(variable); }

// ---- printf in kernels: each line says what its format was. Wrong formats are asked about, too.
#pragma nv_diag_suppress 181, 224, 225, 226

__global__ void print_integers()
{
    long long big = -1234567890123456789;
#define SAY(format, ...) printf("prints: %%" format ": [%" format "]\n", __VA_ARGS__)
    SAY("d", -42); SAY("i", 42); SAY("u", 4000000000u); SAY("o", 511); SAY("x", 0xbeef); SAY("X", 0xbeef); SAY("c", 'A');
    SAY("5d", 42); SAY("-5d", 42); SAY("05d", -42); SAY("+d", 42); SAY(" d", 42); SAY("+5d", 42); SAY("-+5d", 42); SAY(".4d", 42); SAY("8.4d", -42);
    SAY("#x", 255); SAY("#X", 255); SAY("#o", 8); SAY("#010x", 255); SAY("3c", 'B'); SAY("-3c", 'B');
    SAY("lld", big); SAY("ld", (long)big); SAY("llu", (unsigned long long)big); SAY("lu", (unsigned long)big); SAY("llx", (unsigned long long)big);
    SAY("zu", (size_t)big); SAY("zd", (long)big); SAY("jd", (long)big); SAY("td", (long)big);
    SAY("hd", 70000); SAY("hu", 70000); SAY("d", 4000000000u); SAY(".0d", 0); SAY("+.3d", 7);
    SAY("*d", 6, 42); SAY("-*d", 6, 42); SAY("*d", -6, 42); SAY(".*d", 4, 42); SAY("*.*d", 8, 4, 42);
    SAY("'d", 1234567);
}

__global__ void print_floats()
{
    double zero = 0, huge = 1e308 * 10, none = huge - huge;
    SAY("f", 3.14159265358979); SAY("f", 2.5f); SAY(".2f", 2.675); SAY("10.3f", 3.14159); SAY("-10.3f", 3.14159); SAY("010.3f", -3.14159); SAY("+f", 1.0);
    SAY(".0f", 2.5); SAY("#.0f", 2.5); SAY("e", 12345.678); SAY("E", 12345.678); SAY(".3e", 0.0); SAY("g", 0.0001); SAY("g", 0.00001); SAY("g", 1e6); SAY("G", 1e-10);
    SAY("#g", 1.0); SAY("a", 1.5); SAY("A", 255.0); SAY(".2a", 1.999); SAY("F", huge);
    SAY("f", huge); SAY("f", -huge); SAY("f", none); SAY("e", none); SAY("g", huge); SAY("10f", huge); SAY("010f", huge); SAY("f", -zero); SAY(".20f", 0.1); SAY(".*f", 2, 1.005); SAY("lf", 1.25);
}

__global__ void print_pointers(void *null, const char *nothing_there)
{
    SAY("p", (void *)0x1234abcd); SAY("p", null); SAY("20p", (void *)0x1234); SAY("-20p", (void *)0x1234);
    SAY("s", "words"); SAY("10s", "words"); SAY("-10s", "words"); SAY(".2s", "words"); SAY("10.2s", "words"); SAY(".*s", 3, "words"); SAY("s", ""); SAY("s", nothing_there);
    printf("prints: percent: [%%]\n");
    printf("prints: nothing else: []\n");
    printf("prints: what a printf of 4 characters gives: %d\n", printf("...\n"));
    printf("prints: what one without gives: %d\n", printf("\n"));
    printf("prints: what one with two gives: %d\n", printf("%d %d\n", 1, 2));
    printf("prints: 32: %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
           12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    int written = 7;
    printf("prints: mixed: %d %s %f %c %lld %p %x\n", 1, "two", 3.0, '4', 5ll, (void *)6, 7);
    printf("prints: too few: %d %d\n", 1);
    printf("prints: too many: %d\n", 1, 2, 3);
    printf("prints: double for an integer: %d\n", 1.0);
    printf("prints: unknown: [%y] [%k] [%5", 1, 2);
    printf("]\nprints: written: %d\n", written);
    printf("prints: an 'h' at the end of the format: %h\n", 1);
    printf("prints: a hundred and twenty-eight: [%128d]\n", 7);
    printf("prints: L: [%Lf]\n", 1.5);
}

// The guide allows 32 values after the format; what an H200 prints for more is what happens to lie there.
__global__ void print_long(int *gave)
{
#define TEN(x) x, x, x, x, x, x, x, x, x, x
#define WORDS(x) x x x x x x x x x x
    gave[0] = printf("prints_long: 32: " WORDS("%d ") WORDS("%d ") WORDS("%d ") "%d %d\n", TEN(1), TEN(2), TEN(3), 4, 5);
    gave[1] = printf("# 33: " WORDS("%d ") WORDS("%d ") WORDS("%d ") "%d %d %d\n", TEN(1), TEN(2), TEN(3), 4, 5, 6);
    gave[2] = printf("# 60: " WORDS("%d ") WORDS("%d ") WORDS("%d ") WORDS("%d ") WORDS("%d ") WORDS("%d ") "\n", TEN(1), TEN(2), TEN(3), TEN(4), TEN(5), TEN(6));
    gave[3] = printf("prints_long: words: %s\n", WORDS(WORDS("ten letters")));
    gave[4] = printf("prints_long: a long format: " WORDS(WORDS("ten letters")) "%d\n", 7);
    gave[5] = printf("prints_long: 30 and a width: " WORDS("%d ") WORDS("%d ") WORDS("%d ") "%*d\n", TEN(1), TEN(2), TEN(3), 6, 4);
    gave[6] = printf("# 32 and a width: " WORDS("%d ") WORDS("%d ") WORDS("%d ") "%d %d %*d\n", TEN(1), TEN(2), TEN(3), 4, 5, 6, 7);
#undef TEN
#undef WORDS
}

// Lines that are numbered, and what the printf gave for the last of them.
__global__ void print_many(int lines, int *gave)
{
    for (int i = 0; i < lines; i++) *gave = printf("%08d\n", i);
}
#undef SAY

// ---- Kernels of which the attributes are asked

struct Large { char bytes[4000]; };
__global__ void large_parameter(Large l, int *p) { *p = l.bytes[*p]; }
__global__ void many_parameters(int a, char b, double c, int *p, short d) { *p = a + b + (int)c + d; }
__global__ void large_table(int *p)
{
    const double table[] = { 0.5, 1.25, 2.125, 3.0625, 4.03125, 5.015625, 6.5, 7.25, 8.125, 9.0625, 10.5, 11.25 };
    *p = (int)table[*p % 12];
}
__global__ void divides(double *p) { *p = sin(*p) / p[1]; }
__global__ void uses_constant(int *p) { *p = constant[*p & 15]; }
__global__ void local_memory(int *p)
{
    int room[100];
    for (int i = 0; i < 100; i++) room[i] = p[i];
    *p = room[*p % 100];
}

// ---- Kernels that launch kernels

__global__ void spin(int *p, int nanoseconds)
{
    atomicAdd(p, 1);
    for (int i = 0; i < nanoseconds / 1000; i++) __nanosleep(1000);
}

__global__ void launch_wrongly(int *e)
{
    int n = 0;
    nothing<<<1, 1025>>>(); e[n++] = cudaPeekAtLastError(); e[n++] = cudaGetLastError(); e[n++] = cudaGetLastError();
    nothing<<<0, 1>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 0>>>(); e[n++] = cudaGetLastError();
    nothing<<<dim3(1, 65536), 1>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, dim3(1, 1, 65)>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1, 49152>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1, 49153>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1, 300000>>>(); e[n++] = cudaGetLastError();
    nothing<<<1, 1>>>(); e[n++] = cudaGetLastError();
    cudaStream_t s;
    e[n++] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
    e[n++] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    e[n++] = cudaStreamDestroy(s);
    e[n++] = cudaGetLastError();
}

__global__ void call_runtime(int *e)
{
    int n = 0, *p = e + 40;
    cudaEvent_t event;
    cudaStream_t s;
    e[n++] = cudaMemsetAsync(p, 1, 16, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, cudaMemcpyDeviceToDevice, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, cudaMemcpyDefault, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, cudaMemcpyHostToDevice, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 0, cudaMemcpyDeviceToDevice, 0);
    e[n++] = cudaMemcpyAsync(p + 8, p, 16, (cudaMemcpyKind)9, 0);
    e[n++] = cudaMemset2DAsync(p, 8, 1, 4, 2, 0);
    e[n++] = cudaMemset2DAsync(p, 2, 1, 4, 2, 0);
    e[n++] = cudaGetLastError();
    e[n++] = cudaEventCreateWithFlags(&event, cudaEventDefault);
    e[n++] = cudaEventCreateWithFlags(&event, cudaEventBlockingSync);
    e[n++] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    e[n++] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    e[n++] = cudaEventRecord(event, s);
    e[n++] = cudaStreamWaitEvent(s, event, 0);
    e[n++] = cudaEventDestroy(event);
    e[n++] = cudaGetLastError();
    int device = -7;
    e[n++] = cudaGetDevice(&device);
    e[n++] = device;
}

__global__ void ask_runtime(int *e)
{
    int n = 0, value = -7, *p = e + 40;
    void *memory = 0;
    e[n++] = cudaMalloc(&memory, 0);
    e[n++] = memory == 0;
    e[n++] = cudaMalloc(&memory, 1 << 30);
    e[n++] = cudaGetLastError();
    e[n++] = cudaMalloc(&memory, 16);
    e[n++] = cudaFree(memory);
    e[n++] = cudaFree(0);
    e[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0);
    e[n++] = value;
    e[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 99);
    cudaFuncAttributes attributes;
    e[n++] = cudaFuncGetAttributes(&attributes, nothing);
    e[n++] = attributes.maxThreadsPerBlock;
    e[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, 256, 0);
    e[n++] = value;
    e[n++] = cudaDeviceGetLimit((size_t *)p, cudaLimitStackSize);
    e[n++] = cudaGetDeviceCount(&value);
    e[n++] = cudaRuntimeGetVersion(&value);
    e[n++] = cudaMemcpy2DAsync(p + 8, 8, p, 8, 4, 2, cudaMemcpyDeviceToDevice, 0);
}

// e[0]: how deep it went; e[1]: what the launch gave that failed.
__global__ void launch_deeper(int *e, int depth)
{
    e[0] = depth;
    launch_deeper<<<1, 1>>>(e, depth + 1);
    cudaError_t error = cudaGetLastError();
    if (error) e[1] = error;
}

// One thread launches n that take long, in one stream, fire and forget, or at the tail. e[0]: ran; e[1]: launched; e[2]: error.
__global__ void launch_many(int *e, int n)
{
    cudaStream_t stream = n < 0 ? cudaStreamTailLaunch : n & 1 ? cudaStreamFireAndForget : (cudaStream_t)0;
    e[1] = 0;
    for (int i = 0; i < (n < 0 ? -n : n); i++) {
        spin<<<1, 1, 0, stream>>>(e, 20000);
        e[2] = cudaGetLastError();
        if (e[2]) return;
        e[1]++;
    }
}

__global__ void __cluster_dims__(2) pairs_of_blocks() {}
__global__ void __cluster_dims__(16) sixteen_blocks() {}
__global__ void __launch_bounds__(256, 1, 4) four_at_most() {}
}
