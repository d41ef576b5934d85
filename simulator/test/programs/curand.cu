// expect: exit 0
// cuRAND's device API: Philox and XORWOW give, number for number, what a reference of our own gives from their papers, with
// sequences and offsets skipped to; and normal numbers come of them as Box and Muller say.
//
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); Marsaglia, "Xorshift RNGs" (2003). How a seed
// becomes XORWOW's first state, and how far apart its sequences lie (2^67), is cuRAND's own.
#include <curand_kernel.h>
#include <string.h>

#include "numbers.h"

typedef unsigned long long u64;
enum { DRAWS = 7, THREADS = 64 };

// ---- Philox 4x32-10 ----

struct Philox { unsigned key[2], counter[4]; };

static void philox_block(const Philox *p, unsigned out[4])
{
    unsigned key[2] = { p->key[0], p->key[1] };
    memcpy(out, p->counter, 4 * sizeof *out);
    for (int round = 0; round < 10; round++, key[0] += 0x9e3779b9, key[1] += 0xbb67ae85) {
        u64 a = (u64)0xd2511f53 * out[0], b = (u64)0xcd9e8d57 * out[2];
        unsigned next[4] = { (unsigned)(b >> 32) ^ out[1] ^ key[0], (unsigned)b, (unsigned)(a >> 32) ^ out[3] ^ key[1], (unsigned)a };
        memcpy(out, next, sizeof next);
    }
}

static unsigned philox(u64 seed, u64 sequence, u64 place)
{
    Philox p = { { (unsigned)seed, (unsigned)(seed >> 32) },
                 { (unsigned)(place / 4), (unsigned)(place / 4 >> 32), (unsigned)sequence, (unsigned)(sequence >> 32) } };
    unsigned out[4];
    philox_block(&p, out);
    return out[place % 4];
}

// ---- XORWOW: 160 bits that a matrix of bits takes to the next, and a counter ----

enum { WORDS = 5, BITS = 32 * WORDS };
struct Bits { unsigned word[WORDS]; };
struct Matrix { Bits column[BITS]; };

static Bits xorwow_step(Bits v)
{
    unsigned t = v.word[0] ^ v.word[0] >> 2;
    memmove(v.word, v.word + 1, 4 * sizeof *v.word);
    v.word[4] = (v.word[3] ^ v.word[3] << 4) ^ (t ^ t << 1);
    return v;
}

static Bits apply(const Matrix *m, Bits v)
{
    Bits to = { { 0 } };
    for (int b = 0; b < BITS; b++)
        for (int w = 0; w < WORDS && v.word[b / 32] >> b % 32 & 1; w++) to.word[w] ^= m->column[b].word[w];
    return to;
}

static void square(Matrix *m)
{
    Matrix from = *m;
    for (int b = 0; b < BITS; b++) m->column[b] = apply(&from, from.column[b]);
}

// The matrix that takes a state on by 2^67 steps, squared so often.
static const Matrix *sequence_step(unsigned squared)
{
    static std::vector<Matrix> far;
    if (far.empty()) {
        far.resize(1);
        for (int b = 0; b < BITS; b++) {
            Bits one = { { 0 } };
            one.word[b / 32] = 1u << b % 32;
            far[0].column[b] = xorwow_step(one);
        }
        for (int k = 0; k < 67; k++) square(&far[0]);
    }
    while (far.size() <= squared) far.push_back(far.back()), square(&far.back());
    return &far[squared];
}

static Bits skip_sequences(Bits v, u64 sequences)
{
    for (unsigned k = 0; sequences >> k; k++)
        if (sequences >> k & 1) v = apply(sequence_step(k), v);
    return v;
}

struct Xorwow { Bits v; unsigned counter; };

static Xorwow xorwow_start(u64 seed, u64 sequence, u64 offset)
{
    unsigned low = ((unsigned)seed ^ 0xaad26b49) * 1099087573u, high = ((unsigned)(seed >> 32) ^ 0xf7dcefdd) * 2591861531u;
    Xorwow x = { { { 123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low } }, 6615241 + high + low };
    x.v = skip_sequences(x.v, sequence);
    for (u64 k = 0; k < offset; k++) x.v = xorwow_step(x.v), x.counter += 362437;
    return x;
}

static unsigned xorwow(Xorwow *x)
{
    x->v = xorwow_step(x->v);
    return x->v.word[4] + (x->counter += 362437);
}

// ---- On the device ----

// Each thread its own sequence and offset.
template <typename State> __global__ void draw(unsigned *out, u64 seed, u64 first)
{
    int t = threadIdx.x;
    State state;
    curand_init(seed, first + t, t / 3, &state);
    for (int k = 0; k < DRAWS; k++) out[t * DRAWS + k] = curand(&state);
}

template <typename State> __global__ void shaped(float *uniform, float *normal, double *in_double, u64 seed)
{
    int t = threadIdx.x;
    State a, b, c;
    curand_init(seed, t, 0, &a);
    curand_init(seed, t, 0, &b);
    curand_init(seed, t, 0, &c);
    uniform[t] = curand_uniform(&a);
    float2 two = curand_normal2(&b);
    normal[2 * t] = two.x, normal[2 * t + 1] = two.y;
    in_double[t] = curand_uniform_double(&c);
}

__global__ void four_at_once(unsigned *out, u64 seed)
{
    curandStatePhilox4_32_10_t state;
    curand_init(seed, threadIdx.x, 4, &state);
    ((uint4 *)out)[threadIdx.x] = curand4(&state);
}

static double uniform_of(unsigned x) { return (x + 0.5) / 4294967296.0; }

template <typename State> void try_generator(bool is_philox, u64 seed, u64 first)
{
    unsigned *out = room_for<unsigned>(THREADS * DRAWS);
    float *uniform = room_for<float>(THREADS), *normal = room_for<float>(2 * THREADS);
    double *in_double = room_for<double>(THREADS);
    draw<State><<<1, THREADS>>>(out, seed, first);
    OK(cudaGetLastError());
    std::vector<unsigned> got = from_device(out, THREADS * DRAWS);
    for (int t = 0; t < THREADS; t++) {
        Xorwow x = xorwow_start(seed, first + t, t / 3);
        for (int k = 0; k < DRAWS; k++)
            CHECK(got[t * DRAWS + k] == (is_philox ? philox(seed, first + t, t / 3 + k) : xorwow(&x)));
    }
    shaped<State><<<1, THREADS>>>(uniform, normal, in_double, seed);
    std::vector<double> want_uniform, want_normal;
    for (int t = 0; t < THREADS; t++) {
        Xorwow x = xorwow_start(seed, t, 0);
        unsigned one = is_philox ? philox(seed, t, 0) : xorwow(&x), two = is_philox ? philox(seed, t, 1) : xorwow(&x);
        double length = sqrt(-2 * log(uniform_of(one))), angle = 2 * M_PI * uniform_of(two);
        want_uniform.push_back(uniform_of(one));
        want_normal.push_back(length * sin(angle));
        want_normal.push_back(length * cos(angle));
    }
    check_close(from_device(uniform, THREADS), want_uniform, 1e-7);
    check_close(from_device(normal, 2 * THREADS), want_normal, 1e-5);
    for (double x : from_device(in_double, THREADS)) CHECK(x > 0 && x <= 1);
    free_all(out, uniform, normal, in_double);
}

int main()
{
    // The paper's own answer for a counter and a key of zeros.
    CHECK(philox(0, 0, 0) == 0x6627e8d5 && philox(0, 0, 1) == 0xe169c58d && philox(0, 0, 2) == 0xbc57ac4c && philox(0, 0, 3) == 0x9b00dbd8);
    try_generator<curandStatePhilox4_32_10_t>(true, 0, 0);
    try_generator<curandStatePhilox4_32_10_t>(true, 0x123456789abcdefull, 1ull << 33);
    try_generator<curandStateXORWOW_t>(false, 42, 0);
    try_generator<curandStateXORWOW_t>(false, 0xfedcba9876543210ull, 1000);
    unsigned *out = room_for<unsigned>(4 * THREADS);
    four_at_once<<<1, THREADS>>>(out, 99);
    std::vector<unsigned> got = from_device(out, 4 * THREADS);
    for (int t = 0; t < 4 * THREADS; t++) CHECK(got[t] == philox(99, t / 4, 4 + t % 4));
    free_all(out);
}
