// Times a version of a lesson's solution, which tried.sh changes and includes before this, in turns with a copy within the
// GPU's memory, and checks a sample of its answer; or, for ncu, makes a single call of it:
//
//     PROGRAM NAME [once]
#ifndef LESSON
#define LESSON 21
#include "../../solutions/21-fusion.cu"
#endif

#include <algorithm>
#include <stdio.h>
#include <vector>

enum { TURNS = 15, SAMPLES = 200 };

// Input i of an array: eighths, of which sums and products are exact in any order.
__host__ __device__ static float input(unsigned array, size_t i)
{
    unsigned word = ((unsigned)i + array * 40503u) * 2654435761u;
    return (int)((word ^ word >> 15) % 15) / 8.0f - 0.875f;
}

template <typename T>
__global__ void fill(T *at, size_t count, unsigned array)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        at[i] = T(input(array, i));
}

template <typename T>
static T *filled(size_t count, unsigned array)
{
    T *at;
    CHECK(cudaMalloc(&at, count * sizeof *at));
    fill<<<1024, 256>>>(at, count, array);
    CHECK(cudaGetLastError());
    return at;
}

// Each lesson says what is to be done, the elements of the answer, the bytes that any answer moves, and what element i should be.
#if LESSON == 7
enum { SIDE_ = 8192, RADIUS_ = 2, WINDOW = 2 * RADIUS_ + 1 };
static const size_t ELEMENTS = (size_t)SIDE_ * SIDE_;
static const double MOVED = 2.0 * sizeof(float) * ELEMENTS, OPERATIONS = 0;
static float *answer, *picture, weights[WINDOW * WINDOW];

static void begin(void)
{
    picture = filled<float>(ELEMENTS, 1);
    for (int i = 0; i < WINDOW * WINDOW; i++)
        weights[i] = input(2, i);
}
static void call(void) { convolve(answer, picture, SIDE_, SIDE_, weights, RADIUS_); }
static int inside(int x) { return std::min(std::max(x, 0), SIDE_ - 1); }
static double due(size_t i)
{
    double sum = 0;
    for (int dy = -RADIUS_; dy <= RADIUS_; dy++)
        for (int dx = -RADIUS_; dx <= RADIUS_; dx++)
            sum += weights[(dy + RADIUS_) * WINDOW + dx + RADIUS_] *
                   input(1, inside(i / SIDE_ + dy) * (size_t)SIDE_ + inside(i % SIDE_ + dx));
    return sum;
}
#elif LESSON == 15 || LESSON == 17
#if LESSON == 15
typedef float Number;
#define MULTIPLY_BY matmul
#else
typedef __nv_bfloat16 Number;
#define MULTIPLY_BY matmul_bf16
#endif
enum { SIDE_ = 4096 };
static const size_t ELEMENTS = (size_t)SIDE_ * SIDE_;
static const double MOVED = (2.0 * sizeof(Number) + sizeof(float)) * ELEMENTS, OPERATIONS = 2.0 * SIDE_ * ELEMENTS;
static Number *left, *right;
static float *answer;

static void begin(void)
{
    left = filled<Number>(ELEMENTS, 1);
    right = filled<Number>(ELEMENTS, 2);
}
static void call(void) { MULTIPLY_BY(answer, left, right, SIDE_, SIDE_, SIDE_); }
static double due(size_t i)
{
    double sum = 0;
    for (int p = 0; p < SIDE_; p++)
        sum += input(1, i / SIDE_ * SIDE_ + p) * input(2, (size_t)p * SIDE_ + i % SIDE_);
    return sum;
}
#elif LESSON == 21
enum { ROWS_ = 8192, COLS_ = 4096 };
static const size_t ELEMENTS = (size_t)ROWS_ * COLS_;
static const double MOVED = 3.0 * sizeof(float) * ELEMENTS, OPERATIONS = 0;
static float *answer, *x, *residual, *bias, *factor, *offset;

static void begin(void)
{
    x = filled<float>(ELEMENTS, 1);
    residual = filled<float>(ELEMENTS, 2);
    bias = filled<float>(COLS_, 3);
    factor = filled<float>(COLS_, 4);
    offset = filled<float>(COLS_, 5);
}
static void call(void) { bias_gelu_residual_norm(answer, x, bias, residual, factor, offset, ROWS_, COLS_); }
static double due(size_t i)
{
    std::vector<double> h(COLS_);
    double mean = 0, variance = 0;
    size_t row = i / COLS_ * COLS_;
    for (int c = 0; c < COLS_; c++) {
        double t = (double)input(1, row + c) + input(3, c);
        mean += (h[c] = input(2, row + c) + t / 2 * (1 + erf(t / sqrt(2.0)))) / COLS_;
    }
    for (int c = 0; c < COLS_; c++)
        variance += (h[c] - mean) * (h[c] - mean) / COLS_;
    return (h[i % COLS_] - mean) / sqrt(variance + 1e-5) * input(4, i % COLS_) + input(5, i % COLS_);
}
#endif

static char *from, *to;
static void copy(void) { CHECK(cudaMemcpyAsync(to, from, MOVED / 2, cudaMemcpyDeviceToDevice)); }

static double microseconds(void (*what)(void))
{
    static cudaEvent_t start, stop;
    float milliseconds;
    if (!start) {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
    }
    CHECK(cudaEventRecord(start));
    what();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    return milliseconds * 1e3;
}

static double median(double *of)
{
    std::sort(of, of + TURNS);
    return of[TURNS / 2];
}

// The copies and the calls take turns; what a copy takes in its turn, over what the call beside it takes, is its rate's share.
static void measure(const char *name)
{
    double took[TURNS], share[TURNS];
    CHECK(cudaMalloc(&from, MOVED / 2));
    CHECK(cudaMalloc(&to, MOVED / 2));
    for (int i = -3; i < TURNS; i++) {
        double copied = microseconds(copy), called = microseconds(call);
        if (i >= 0)
            took[i] = called, share[i] = copied / called;
    }
    printf("%s\tmicroseconds\t%.4g\n", name, median(took));
    if (OPERATIONS > 0)
        printf("%s\tTFLOP/s\t%.3g\n", name, OPERATIONS / median(took) / 1e6);
    else
        printf("%s\tof a copy's rate\t%.3f\n", name, median(share));
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "the last version";
    begin();
    CHECK(cudaMalloc(&answer, ELEMENTS * sizeof *answer));
    CHECK(cudaMemset(answer, 0xff, ELEMENTS * sizeof *answer));
    if (argc > 2)
        call();
    else
        measure(name);
    for (int s = 0; s < SAMPLES; s++) {
        size_t i = s * (ELEMENTS - 1) / (SAMPLES - 1);
        float is;
        CHECK(cudaMemcpy(&is, answer + i, sizeof is, cudaMemcpyDeviceToHost));
        if (!(fabs(is - due(i)) < 1e-4)) {
            fprintf(stderr, "%s: element %zu is %.9g, should be %.9g\n", name, i, is, due(i));
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
