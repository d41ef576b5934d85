// expect: exit 0
// prints: all agree
// Numbers of 16, 8, 6 and 4 bits through CUDA's own headers, which have a way for the host and another for the device: of
// the same numbers, edge values and random bits, both must make the same. Any NaN is as good as another.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <string.h>

#include "check.h"

enum { N = 2048 };

// f, d, i, u, l: an operand as a float, a double, an integer of 32 bits, without a sign, of 64. h, g, b, c: halves and
// bfloat16 numbers. s: 16 bits. Each line is a result, and whether that is a half ('h'), bfloat16 ('b') or float ('f').
#define RESULTS                                                                                     \
    R('h', __half_as_ushort(__float2half_rn(f))) R('h', __half_as_ushort(__float2half_rz(f)))       \
    R('h', __half_as_ushort(__float2half_rd(f))) R('h', __half_as_ushort(__float2half_ru(f)))       \
    R('h', __half_as_ushort(__double2half(d)))                                                      \
    R('b', __bfloat16_as_ushort(__float2bfloat16_rn(f))) R('b', __bfloat16_as_ushort(__float2bfloat16_rz(f))) \
    R('b', __bfloat16_as_ushort(__float2bfloat16_rd(f))) R('b', __bfloat16_as_ushort(__float2bfloat16_ru(f))) \
    R('b', __bfloat16_as_ushort(__double2bfloat16(d)))                                              \
    R('h', __half_as_ushort(__int2half_rn(i))) R('h', __half_as_ushort(__int2half_rz(i)))           \
    R('h', __half_as_ushort(__int2half_rd(i))) R('h', __half_as_ushort(__int2half_ru(i)))           \
    R('h', __half_as_ushort(__uint2half_rd(u))) R('h', __half_as_ushort(__ull2half_ru(l)))          \
    R('h', __half_as_ushort(__ll2half_rd((long long)l))) R('h', __half_as_ushort(__short2half_rz((short)s))) \
    R('b', __bfloat16_as_ushort(__int2bfloat16_rn(i))) R('b', __bfloat16_as_ushort(__uint2bfloat16_rn(u))) \
    R('b', __bfloat16_as_ushort(__ull2bfloat16_rn(l))) R('b', __bfloat16_as_ushort(__ll2bfloat16_rn((long long)l))) \
    R('f', bits_of(__half2float(h))) R('f', bits_of(__bfloat162float(b)))                           \
    R(0, __half2int_rz(h)) R(0, __half2uint_rz(h)) R(0, __half2short_rz(h)) R(0, (unsigned)__half2ll_rz(h)) \
    R(0, __bfloat162int_rz(b)) R(0, __bfloat162uint_rz(b)) R(0, (unsigned char)__bfloat162char_rz(b)) \
    R('h', __half_as_ushort(__hadd(h, g))) R('h', __half_as_ushort(__hsub(h, g))) R('h', __half_as_ushort(__hmul(h, g))) \
    R('h', __half_as_ushort(__hadd_sat(h, g))) R('h', __half_as_ushort(__hneg(h)))                  \
    R('b', __bfloat16_as_ushort(__hadd(b, c))) R('b', __bfloat16_as_ushort(__hmul(b, c)))           \
    R(0, __hlt(h, g)) R(0, __hequ(h, g)) R(0, __hge(b, c)) R(0, __hneu(b, c))                       \
    R(0, __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3)) R(0, __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2)) \
    R(0, __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2)) R(0, __nv_cvt_bfloat16raw_to_fp8(b, __NV_SATFINITE, __NV_E4M3)) \
    R('h', ((__half_raw)__nv_cvt_fp8_to_halfraw(s & 255, __NV_E4M3)).x) R('h', ((__half_raw)__nv_cvt_fp8_to_halfraw(s & 255, __NV_E5M2)).x) \
    R(0, __nv_cvt_float_to_fp6(f, __NV_E3M2, cudaRoundNearest)) R(0, __nv_cvt_float_to_fp6(f, __NV_E2M3, cudaRoundNearest)) \
    R('h', ((__half_raw)__nv_cvt_fp6_to_halfraw(s & 63, __NV_E3M2)).x)                              \
    R(0, __nv_cvt_float_to_fp4(f, __NV_E2M1, cudaRoundNearest)) R('h', ((__half_raw)__nv_cvt_fp4_to_halfraw(s & 15, __NV_E2M1)).x)

static __host__ __device__ unsigned bits_of(float f)
{
    unsigned bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static __host__ __device__ void work_out(unsigned *to, unsigned long long l)
{
    float f;
    double d;
    unsigned u = (unsigned)l;
    int i = (int)u;
    unsigned short s = (unsigned short)(l >> 17);
    memcpy(&f, &u, sizeof f);
    memcpy(&d, &l, sizeof d);
    __half h = __ushort_as_half((unsigned short)l), g = __ushort_as_half(s);
    __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)l), c = __ushort_as_bfloat16(s);
#define R(kind, result) *to++ = (unsigned)(result);
    RESULTS
#undef R
}

#define R(kind, result) kind,
static const char kinds[] = { RESULTS };
#undef R
#define R(kind, result) #result,
static const char *const names[] = { RESULTS };
#undef R
enum { COUNT = sizeof kinds };

__global__ void on_the_device(unsigned *out, const unsigned long long *in)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < N) work_out(out + n * COUNT, in[n]);
}

static bool is_nan(char kind, unsigned bits)
{
    return kind == 'h' ? (bits & 0x7fff) > 0x7c00 : kind == 'b' ? (bits & 0x7fff) > 0x7f80 : kind == 'f' && (bits & 0x7fffffff) > 0x7f800000;
}

// A third are small floats, which all the formats have near their own range; a third edges of the formats; the rest random.
static unsigned long long number(int n)
{
    static unsigned long long state = 20261121;
    state = state * 6364136223846793005 + 1442695040888963407;
    unsigned long long random = state ^ state >> 29;
    if (n % 3 == 0) return random;
    float f = (float)((int)(random >> 40) - (1 << 23)) / (float)(1u << (random >> 10) % 32);
    static const float edges[] = { 0, -0.0f, 448, 464, 465, 57344, 61440, 65504, 65519.996f, 65520, 28, 30, 7.5f, 7.75f, 6, 6.5f, 0.25f, 0.0625f,
                                   5.9604645e-8f, 2.9802322e-8f, 1e-45f, 1.1754944e-38f, 3.4028235e38f, 0.001953125f };
    if (n % 3 == 1) f = edges[n / 3 % (int)(sizeof edges / sizeof *edges)] * (n % 2 ? -1.0f : 1.0f);
    unsigned long long bits;
    double wide = f;
    memcpy(&bits, &wide, sizeof bits);
    return n % 2 ? bits : (random & ~0xffffffffull) | bits_of(f);
}

int main()
{
    static unsigned long long in[N];
    static unsigned out[N * COUNT];
    unsigned long long *device_in;
    unsigned *device_out, due[COUNT];
    for (int n = 0; n < N; n++) in[n] = number(n);
    OK(cudaMalloc(&device_in, sizeof in));
    OK(cudaMalloc(&device_out, sizeof out));
    OK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    on_the_device<<<N / 128, 128>>>(device_out, device_in);
    OK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    int differ = 0;
    for (int n = 0; n < N; n++) {
        work_out(due, in[n]);
        for (int r = 0; r < COUNT; r++) {
            unsigned got = out[n * COUNT + r];
            if (got == due[r] || (is_nan(kinds[r], got) && is_nan(kinds[r], due[r]))) continue;
            if (differ++ < 20) printf("%s of %016llx: 0x%x on the device, 0x%x on the host\n", names[r], in[n], got, due[r]);
        }
    }
    CHECK(differ == 0);
    puts("all agree");
    OK(cudaFree(device_in));
    OK(cudaFree(device_out));
    return 0;
}
