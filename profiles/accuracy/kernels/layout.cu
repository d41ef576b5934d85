// Moving 512 K bodies, each of eight floats: as an array of structures and as a structure of arrays.
#include "exercise.h"

enum { N = 1 << 19 };

struct Body { float x, y, z, vx, vy, vz, mass, age; };

static __device__ void move(float *x, float *y, float *z, float vx, float vy, float vz, float mass, float *age)
{
    float step = 0.01f * mass;
    *x += step * vx;
    *y += step * vy;
    *z += step * vz;
    *age += step;
}

KERNEL structures(Body *bodies)
{
    Body *b = &bodies[blockIdx.x * blockDim.x + threadIdx.x];
    move(&b->x, &b->y, &b->z, b->vx, b->vy, b->vz, b->mass, &b->age);
}

KERNEL arrays(float *bodies)
{
    float *b = &bodies[blockIdx.x * blockDim.x + threadIdx.x];
    move(b, b + N, b + 2 * N, b[3 * N], b[4 * N], b[5 * N], b[6 * N], b + 7 * N);
}

static float *bodies;

int main(int count, char **arguments)
{
    bodies = numbers(8 * N);
    return run_versions(count, arguments, {
        VERSION_OF("layout", structures, N / 256, 256, 0, (Body *)bodies),
        VERSION_OF("layout", arrays, N / 256, 256, 0, bodies),
    });
}
