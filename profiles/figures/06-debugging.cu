// Calls one of lesson 6's five functions twice, on the device at hand, and says what came of it: for 06-debugging.sh,
// which builds it with the lesson's exercise as it is handed out.
#include "06-debugging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <vector>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t error = (call);                                                                  \
        if (error != cudaSuccess) {                                                                  \
            printf("%s\n", cudaGetErrorString(error));                                               \
            exit(EXIT_FAILURE);                                                                      \
        }                                                                                            \
    } while (0)

enum { N = 1000, ROUNDS = 5, ROWS = 40, COLS = 300 };

static std::vector<float> expected(const char *function, const std::vector<float> &in)
{
    std::vector<float> want = in;
    if (!strcmp(function, "differences")) {
        for (int i = 0; i + 1 < N; i++) want[i] = in[i + 1] - in[i];
        want.resize(N - 1);
    } else if (!strcmp(function, "smooth")) {
        for (int r = 0; r < ROUNDS; r++) {
            std::vector<float> was = want;
            for (int i = 0; i < N; i++) {
                int left = i % RUN ? i - 1 : i, right = i % RUN < RUN - 1 && i < N - 1 ? i + 1 : i;
                want[i] = (was[left] + 2 * was[i] + was[right]) / 4;
            }
        }
    } else if (!strcmp(function, "sort_runs")) {
        for (int i = 0; i < N; i += RUN) std::sort(want.begin() + i, want.begin() + std::min(i + RUN, (int)N));
    } else if (!strcmp(function, "column_means")) {
        for (int c = 0; c < COLS; c++) {
            double sum = 0;
            for (int r = 0; r < ROWS; r++) sum += in[r * COLS + c];
            want[c] = sum / ROWS;
        }
        want.resize(COLS);
    } else {
        for (float &x : want) x *= 3;
    }
    return want;
}

static void call(const char *function, float *out, const float *in)
{
    if (!strcmp(function, "differences")) differences(out, in, N);
    else if (!strcmp(function, "smooth")) smooth(out, in, N, ROUNDS);
    else if (!strcmp(function, "sort_runs")) sort_runs(out, in, N);
    else if (!strcmp(function, "column_means")) column_means(out, in, ROWS, COLS);
    else if (gain(out, in, 3, N, 2048)) printf("an error is returned; ");
}

int main(int, char **argv)
{
    const char *function = argv[1];
    std::vector<float> in(!strcmp(function, "column_means") ? ROWS * COLS : N), got;
    for (size_t i = 0; i < in.size(); i++) in[i] = (i * 7919 % 1009) / 1009.0f - 0.5f;
    std::vector<float> want = expected(function, in);
    float *device_in, *out;
    CHECK(cudaMalloc(&device_in, in.size() * sizeof(float)));
    CHECK(cudaMalloc(&out, want.size() * sizeof(float)));
    CHECK(cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
    got.resize(want.size());

    for (int turn = 1; turn <= 2; turn++) {
        size_t wrong = 0;
        CHECK(cudaMemset(out, 0xff, want.size() * sizeof(float)));
        call(function, out, device_in);
        CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < want.size(); i++) wrong += !(fabsf(got[i] - want[i]) <= 1e-5f);
        if (wrong) printf("%zu of %zu wrong", wrong, want.size());
        else printf("right");
        printf(turn == 1 ? ", then " : "\n");
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    return 0;
}
