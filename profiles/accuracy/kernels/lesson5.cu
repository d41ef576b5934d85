// Lesson 5's versions 2 to 5: transposing a matrix of 4096 x 4096 floats.
#define transpose_tile lesson_5_version_2
#define transpose_padded lesson_5_version_3
#define transpose_fours lesson_5_version_4
#define transpose_squares lesson_5_version_5
#include "../../../solutions/05-transpose.cu"
#undef VERSION
#include "exercise.h"

enum { N = 4096 };

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers((size_t)N * N);
    out = output<float>((size_t)N * N);
    return run_versions(count, arguments, {
        VERSION_OF("transpose", lesson_5_version_2, dim3(N / TILE, N / TILE), dim3(TILE, TILE), 0, out, in, N, N),
        VERSION_OF("transpose", lesson_5_version_3, dim3(N / TILE, N / TILE), dim3(TILE, TILE), 0, out, in, N, N),
        VERSION_OF("transpose", lesson_5_version_4, dim3(N / TILE, N / TILE), dim3(TILE, ROWS), 0, out, in, N, N),
        VERSION_OF("transpose", lesson_5_version_5, dim3(N / TILE / 2, N / TILE / 2), dim3(SIDE, SIDE), 0, out, in, N, N),
    });
}
