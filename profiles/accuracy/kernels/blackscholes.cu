// Prices of European options by Black and Scholes, with the polynomial of Abramowitz and Stegun, 26.2.17, for the normal
// distribution: with CUDA's exact functions, and with its fast ones.
#include "exercise.h"

enum { THREADS = 128, OPTIONS = 1 << 16, EACH = 8, MOST = 1 << 24, SHARED = 24 << 10 };

static __device__ __forceinline__ float normal(float d, bool fast)
{
    float k = fast ? __fdividef(1, 1 + 0.2316419f * fabsf(d)) : 1 / (1 + 0.2316419f * fabsf(d));
    float e = fast ? __expf(-0.5f * d * d) : expf(-0.5f * d * d);
    float c = 0.39894228f * e
            * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - c : c;
}

template <bool FAST> static __device__ __forceinline__ void price(float *out, const float *prices, const float *strikes)
{
    float sum = 0;
    for (int e = 0; e < EACH; e++) {
        int i = ((blockIdx.x * EACH + e) * THREADS + threadIdx.x) % OPTIONS;
        float s = prices[i] + 0.5f, x = strikes[i] + 0.5f, t = 0.25f + 0.1f * e, v = 0.3f, r = 0.02f;
        float root = FAST ? __fsqrt_rn(t) : sqrtf(t);
        float l = FAST ? __logf(__fdividef(s, x)) : logf(s / x);
        float d = FAST ? __fdividef(l + (r + 0.5f * v * v) * t, v * root) : (l + (r + 0.5f * v * v) * t) / (v * root);
        float back = FAST ? __expf(-r * t) : expf(-r * t);
        sum += s * normal(d, FAST) - x * back * normal(d - v * root, FAST);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

#define OF (float *out, const float *prices, const float *strikes)
IN_GRIDS(blackscholes_exact, THREADS, OF, price<false>(out, prices, strikes))
IN_GRIDS(blackscholes_fast, THREADS, OF, price<true>(out, prices, strikes))

static float *prices, *strikes, *out;

int main(int count, char **arguments)
{
    prices = numbers(OPTIONS);
    strikes = numbers(OPTIONS);
    out = output<float>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("blackscholes", blackscholes_exact, THREADS, SHARED, out, prices, strikes),
        GRIDS_OF("blackscholes", blackscholes_fast, THREADS, SHARED, out, prices, strikes),
    });
}
