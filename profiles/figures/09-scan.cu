// Times a version of lesson 9's solution, which 09-scan.sh changes and includes before this, and checks its answer.
#ifndef NAME
#define NAME "the last version"
#include "../../solutions/09-scan.cu"
#endif

#include <algorithm>
#include <vector>

enum { N = 1 << 26, TIMES = 21 };

static int *in, *out;
static void *scratch;

template <typename F>
static void timed(const char *what, F launch)
{
    std::vector<float> times;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < TIMES; i++) {
        float ms;
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    printf("%s%s\t%.1f\n", NAME, what, times[TIMES / 2] * 1e3);
}

int main(void)
{
    std::vector<int> host(N), scanned(N);
    for (int i = 0; i < N; i++)
        host[i] = i * 7 % 13 - 6;
    CHECK(cudaMalloc(&in, sizeof(int) * N));
    CHECK(cudaMalloc(&out, sizeof(int) * N));
    CHECK(cudaMalloc(&scratch, N / 8 + 16384));
    CHECK(cudaMemcpy(in, host.data(), sizeof(int) * N, cudaMemcpyHostToDevice));

    timed(": a copy", [] { CHECK(cudaMemcpyAsync(out, in, sizeof(int) * N, cudaMemcpyDeviceToDevice)); });
    timed("", [] { scan_i32(out, in, N, scratch); });
    if (VERSION == 2) {
        enum { TILES = N / THREADS };
        timed(": scan_tiles", [] { scan_tiles<<<TILES, THREADS>>>(out, (int *)scratch, in, N); });
        timed(": scan_one_block", [] { scan_one_block<<<1, THREADS>>>((int *)scratch, (int *)scratch, (int)TILES); });
        timed(": add_sums", [] { add_sums<<<TILES, THREADS>>>(out, (int *)scratch, N); });
    }

    scan_i32(out, in, N, scratch);
    CHECK(cudaMemcpy(scanned.data(), out, sizeof(int) * N, cudaMemcpyDeviceToHost));
    for (int i = 0, sum = 0; i < N; i++)
        if (scanned[i] != (sum += host[i])) {
            fprintf(stderr, "%s: out[%d] is %d, should be %d\n", NAME, i, scanned[i], sum);
            return EXIT_FAILURE;
        }
}
