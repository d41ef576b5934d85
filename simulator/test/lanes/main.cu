// lanes SEED: a warp reads and writes words a few times, in ways that are drawn, in global memory if the seed is odd, else in shared memory, and
// meets now and then. It says "race" or "none": whether two of its lanes race.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 80, LANES = 32, MOST_STEPS = 6 };
enum way { ROW, MIRRORED, ROWS_ALIKE, ONE_PLACE, EVERY_OTHER, IN_GROUPS, WAYS };

typedef struct Step { enum way way; unsigned lanes; int first, size; bool store, meet; } Step;
typedef struct Plan { Step step[MOST_STEPS]; int steps; } Plan;

static __host__ __device__ int place(const Step *s, int lane)
{
    switch (s->way) {
    case ROW: return s->first + lane;
    case MIRRORED: return s->first + LANES - 1 - lane;
    case ROWS_ALIKE: return s->first + lane % s->size;
    case EVERY_OTHER: return s->first + 2 * lane;
    case IN_GROUPS: return s->first + lane / s->size;
    default: return s->first;
    }
}

static __host__ __device__ bool takes_part(const Step *s, int lane) { return s->lanes >> lane & 1; }

__global__ void run(Plan plan, int *memory, int *sums)
{
    __shared__ int shared[WORDS];
    int *words = memory ? memory : shared, lane = threadIdx.x, sum = 0;
    for (int i = lane; !memory && i < WORDS; i += LANES) shared[i] = 0;
    __syncthreads();
    for (int k = 0; k < plan.steps; k++) {
        const Step *s = &plan.step[k];
        if (takes_part(s, lane)) {
            int *word = &words[place(s, lane)];
            if (s->store) *word = k * LANES + lane + sum % 2;
            else sum += *word;
        }
        if (s->meet) __syncwarp();
    }
    sums[lane] = sum;           // so that nvcc leaves out no load
}

static unsigned drawn(unsigned long long *state, unsigned below)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(*state >> 33) % below;
}

// Mostly loads, and at last a store, often by one lane: which of the loads was forgotten shows then.
static Plan draw(unsigned long long seed)
{
    static const unsigned lanes[] = { ~0u, ~0u, ~0u, 0xffff, 0xffff0000, 0x55555555, 0xff, 1, 1u << 31, 0xf0f0f0f0, 0xffff00 };
    unsigned long long state = seed * 7919;
    for (int n = 0; n < 4; n++) drawn(&state, 2);
    Plan p = { .steps = 2 + (int)drawn(&state, MOST_STEPS - 1) };
    for (int k = 0; k < p.steps; k++) {
        Step *s = &p.step[k];
        s->way = (enum way)drawn(&state, WAYS);
        s->store = k == p.steps - 1 || drawn(&state, 16) == 0;
        s->lanes = s->store && drawn(&state, 3) ? 1u << drawn(&state, LANES) : lanes[drawn(&state, sizeof lanes / sizeof *lanes)];
        s->first = drawn(&state, 2) ? 0 : (int)drawn(&state, 8);
        s->size = 2 << drawn(&state, 4);
        s->meet = drawn(&state, 3) == 0;
    }
    return p;
}

// What lanes have done with each word since they all met.
static bool races(const Plan *p)
{
    unsigned readers[WORDS] = { 0 }, writers[WORDS] = { 0 };
    for (const Step *s = p->step; s < p->step + p->steps; s++) {
        for (int lane = 0; lane < LANES; lane++) {
            if (!takes_part(s, lane)) continue;
            int at = place(s, lane);
            unsigned others = (s->store ? readers[at] | writers[at] : writers[at]) & ~(1u << lane);
            if (others) return true;
            if (s->store) writers[at] |= 1u << lane;
        }
        for (int lane = 0; lane < LANES && !s->store; lane++)
            if (takes_part(s, lane)) readers[place(s, lane)] |= 1u << lane;
        for (int at = 0; at < WORDS && s->meet; at++) readers[at] = writers[at] = 0;
    }
    return false;
}

int main(int, char **words)
{
    unsigned long long seed = strtoull(words[1], NULL, 10);
    Plan p = draw(seed);
    int *memory, *sums;
    puts(races(&p) ? "race" : "none");
    if (cudaMalloc(&memory, WORDS * sizeof *memory) || cudaMemset(memory, 0, WORDS * sizeof *memory) || cudaMalloc(&sums, LANES * sizeof *sums))
        return 1;
    run<<<1, LANES>>>(p, seed % 2 ? memory : NULL, sums);
    return cudaDeviceSynchronize() || cudaFree(memory) || cudaFree(sums);
}
