// expect: exit 0
// Bodies that attract one another: all pairs, a tile of float4 at a time in shared memory, several steps, beside doubles.
#include "numbers.h"

enum { BODIES = 200, TILE = 64, STEPS = 3 };
#define SOFTENING 0.05f
#define STEP 0.01f

__global__ void accelerate(float4 *velocity, const float4 *body, int n)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 mine = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += TILE) {
        if (first + (int)threadIdx.x < n) tile[threadIdx.x] = body[first + threadIdx.x];
        else tile[threadIdx.x] = make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; k++) {
            float3 d = make_float3(tile[k].x - mine.x, tile[k].y - mine.y, tile[k].z - mine.z);
            float inverse = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + SOFTENING);
            float pull = tile[k].w * inverse * inverse * inverse;
            a.x += d.x * pull, a.y += d.y * pull, a.z += d.z * pull;
        }
        __syncthreads();
    }
    if (i < n) velocity[i].x += a.x * STEP, velocity[i].y += a.y * STEP, velocity[i].z += a.z * STEP;
}

__global__ void move(float4 *body, const float4 *velocity, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 b = body[i], v = velocity[i];
    body[i] = make_float4(b.x + v.x * STEP, b.y + v.y * STEP, b.z + v.z * STEP, b.w);
}

static void step_host(std::vector<double> &x, std::vector<double> &v)
{
    for (int i = 0; i < BODIES; i++) {
        double a[3] = { 0, 0, 0 };
        for (int k = 0; k < BODIES; k++) {
            double d[3], square = SOFTENING;
            for (int c = 0; c < 3; c++) d[c] = x[4 * k + c] - x[4 * i + c], square += d[c] * d[c];
            for (int c = 0; c < 3; c++) a[c] += d[c] * x[4 * k + 3] / (square * sqrt(square));
        }
        for (int c = 0; c < 3; c++) v[4 * i + c] += a[c] * STEP;
    }
    for (int i = 0; i < BODIES; i++)
        for (int c = 0; c < 3; c++) x[4 * i + c] += v[4 * i + c] * STEP;
}

int main()
{
    std::vector<float> start = real_numbers<float>(4 * BODIES, 51);
    for (int i = 0; i < BODIES; i++) start[4 * i + 3] = fabsf(start[4 * i + 3]);
    std::vector<double> x(start.begin(), start.end()), v(4 * BODIES);
    float *body = on_device(start), *velocity = on_device(std::vector<float>(4 * BODIES));
    for (int k = 0; k < STEPS; k++) {
        accelerate<<<(BODIES + TILE - 1) / TILE, TILE>>>((float4 *)velocity, (const float4 *)body, BODIES);
        move<<<2, 128>>>((float4 *)body, (const float4 *)velocity, BODIES);
        step_host(x, v);
    }
    check_close(from_device(body, 4 * BODIES), x, 1e-4);
    check_close(from_device(velocity, 4 * BODIES), v, 1e-4);
    free_all(body, velocity);
}
