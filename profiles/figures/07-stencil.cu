// Measures what lesson 7 draws: how many pixels a second are filtered, over the filter's radius, by version 4 of the solution, by
// sums over each pixel's whole window in a tile, by a pass along the rows and one along the columns, and by Fourier transforms,
// beside a copy. On a machine with a GPU, from the repository's root:
//
//     nvcc -std=c++17 -O3 -arch=native -Igrader/lessons -o build/measure profiles/figures/07-stencil.cu -lcufft
//     build/measure >profiles/figures/07-stencil.txt
//
// Each line it writes has a series, the radius, and 10^9 pixels a second. The kernels of its own have what suits
// large radii: four pixels side by side and four below each other for a thread, in a tile of 128 x 32 pixels.
#include "../../solutions/07-stencil.cu"

#include <cufft.h>
#include <math.h>
#include <time.h>

#include <algorithm>
#include <vector>

#define CHECK_FFT(call)                                              \
    do {                                                             \
        cufftResult result = (call);                                 \
        if (result != CUFFT_SUCCESS) {                               \
            fprintf(stderr, "%s: error %d\n", #call, (int)result);   \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { WIDTH = 8192, HEIGHT = 8192, WIDE = 128, HIGH = 32, FOUR = 4, RADIUS_MAX = 16, SIDE_MAX = 2 * RADIUS_MAX + 1 };

__constant__ float line[SIDE_MAX];                  // the filter is line's product with itself
__constant__ float square[SIDE_MAX * SIDE_MAX];

// The sizes of a tile, whose rows are whole vectors of four.
template <int RADIUS>
struct Tile {
    enum { SIDE = 2 * RADIUS + 1, RIM = (RADIUS + 3) / 4 * 4, PITCH = WIDE + 2 * RIM, ROWS = HIGH + 2 * RADIUS };
};

template <int RADIUS>
__device__ void load_tile(float *tile, const float *in)
{
    int top = blockIdx.y * HIGH - RADIUS, left = blockIdx.x * WIDE - Tile<RADIUS>::RIM;
    for (int i = threadIdx.y; i < Tile<RADIUS>::ROWS; i += blockDim.y)
        for (int j = threadIdx.x; j < Tile<RADIUS>::PITCH; j += blockDim.x)
            tile[i * Tile<RADIUS>::PITCH + j] = in[clamp(top + i, HEIGHT) * WIDTH + clamp(left + j, WIDTH)];
}

// The pixels of a row that four side by side need, from the tile.
template <int RADIUS>
__device__ void load_row(float *pixel, const float *tile, int i)
{
    const float4 *row = (const float4 *)(tile + i * Tile<RADIUS>::PITCH) + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < FOUR + 2 * Tile<RADIUS>::RIM; k += 4) {
        float4 four = row[k / 4];
        pixel[k] = four.x, pixel[k + 1] = four.y, pixel[k + 2] = four.z, pixel[k + 3] = four.w;
    }
}

__device__ void store(float *out, const float (*sum)[4])
{
    int x = blockIdx.x * WIDE + 4 * threadIdx.x, y = blockIdx.y * HIGH + FOUR * threadIdx.y;
    #pragma unroll
    for (int r = 0; r < FOUR; r++)
        *(float4 *)&out[(y + r) * WIDTH + x] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}

// Every weight times every pixel of the window.
template <int RADIUS>
__global__ void whole_window(float *out, const float *in)
{
    const int SIDE = Tile<RADIUS>::SIDE;
    extern __shared__ float4 shared[];
    float *tile = (float *)shared;
    load_tile<RADIUS>(tile, in);
    __syncthreads();

    float sum[FOUR][4] = {};
    #pragma unroll
    for (int i = 0; i < FOUR + 2 * RADIUS; i++) {
        float pixel[FOUR + 2 * Tile<RADIUS>::RIM];
        load_row<RADIUS>(pixel, tile, FOUR * threadIdx.y + i);
        #pragma unroll
        for (int r = 0; r < FOUR; r++)
            if (i >= r && i - r < SIDE)
                #pragma unroll
                for (int j = 0; j < SIDE; j++)
                    #pragma unroll
                    for (int k = 0; k < 4; k++)
                        sum[r][k] += square[(i - r) * SIDE + j] * pixel[Tile<RADIUS>::RIM - RADIUS + j + k];
    }
    store(out, sum);
}

// Along the rows into a second tile, and then along its columns.
template <int RADIUS>
__global__ void two_passes(float *out, const float *in)
{
    const int SIDE = Tile<RADIUS>::SIDE;
    extern __shared__ float4 shared[];
    float *tile = (float *)shared;
    float4 (*half_done)[WIDE / 4] = (float4 (*)[WIDE / 4])(tile + Tile<RADIUS>::ROWS * Tile<RADIUS>::PITCH);
    load_tile<RADIUS>(tile, in);
    __syncthreads();

    for (int i = threadIdx.y; i < Tile<RADIUS>::ROWS; i += blockDim.y) {
        float pixel[FOUR + 2 * Tile<RADIUS>::RIM], sum[4] = {};
        load_row<RADIUS>(pixel, tile, i);
        #pragma unroll
        for (int j = 0; j < SIDE; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++)
                sum[k] += line[j] * pixel[Tile<RADIUS>::RIM - RADIUS + j + k];
        half_done[i][threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
    __syncthreads();

    float sum[FOUR][4] = {};
    #pragma unroll
    for (int i = 0; i < FOUR + 2 * RADIUS; i++) {
        float4 four = half_done[FOUR * threadIdx.y + i][threadIdx.x];
        #pragma unroll
        for (int r = 0; r < FOUR; r++)
            if (i >= r && i - r < SIDE) {
                sum[r][0] += line[i - r] * four.x, sum[r][1] += line[i - r] * four.y;
                sum[r][2] += line[i - r] * four.z, sum[r][3] += line[i - r] * four.w;
            }
    }
    store(out, sum);
}

__global__ void copy(float4 *out, const float4 *in)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i];
}

__global__ void multiply(float2 *a, const float2 *b, size_t count)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < count)
        a[i] = make_float2(a[i].x * b[i].x - a[i].y * b[i].y, a[i].x * b[i].y + a[i].y * b[i].x);
}

static float *in, *out[2];

// 10^9 pixels a second: the median of nine groups of four calls.
template <class Call>
static double rate_of(Call call)
{
    cudaEvent_t begin, end;
    std::vector<float> took;

    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int group = 0; group < 10; group++) {
        float ms;
        CHECK(cudaEventRecord(begin));
        for (int k = 0; k < 4; k++)
            call(out[k % 2]);
        CHECK(cudaEventRecord(end));
        CHECK(cudaGetLastError());
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (group)
            took.push_back(ms / 4);
    }
    std::sort(took.begin(), took.end());
    return (double)WIDTH * HEIGHT / took[took.size() / 2] / 1e6;
}

// Do both ways come to the same?
static void compare(int radius)
{
    std::vector<float> a(1 << 20), b(1 << 20);

    for (size_t from : {size_t(0), (size_t)WIDTH * HEIGHT / 2 + 12345, (size_t)WIDTH * HEIGHT - (1 << 20)}) {
        CHECK(cudaMemcpy(a.data(), out[0] + from, sizeof(float) << 20, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(b.data(), out[1] + from, sizeof(float) << 20, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < a.size(); i++)
            if (!(fabsf(a[i] - b[i]) <= 1e-5f)) {
                fprintf(stderr, "radius %d: pixel %zu is %g by its whole window, %g by two passes\n", radius,
                        from + i, a[i], b[i]);
                exit(EXIT_FAILURE);
            }
    }
}

template <int RADIUS>
static void measure()
{
    const int SIDE = 2 * RADIUS + 1;
    float weights[SIDE], product[SIDE * SIDE], sum = 0;

    for (int i = 0; i < SIDE; i++)
        sum += weights[i] = expf(-2.0f * (i - RADIUS) * (i - RADIUS) / (RADIUS * RADIUS));
    for (int i = 0; i < SIDE; i++)
        weights[i] /= sum;
    for (int i = 0; i < SIDE * SIDE; i++)
        product[i] = weights[i / SIDE] * weights[i % SIDE];
    CHECK(cudaMemcpyToSymbol(line, weights, sizeof weights));
    CHECK(cudaMemcpyToSymbol(square, product, sizeof product));

    dim3 grid(WIDTH / WIDE, HEIGHT / HIGH), block(WIDE / 4, HIGH / FOUR);
    int one = Tile<RADIUS>::ROWS * Tile<RADIUS>::PITCH * sizeof(float), two = one + Tile<RADIUS>::ROWS * WIDE * sizeof(float);
    CHECK(cudaFuncSetAttribute(whole_window<RADIUS>, cudaFuncAttributeMaxDynamicSharedMemorySize, one));
    CHECK(cudaFuncSetAttribute(two_passes<RADIUS>, cudaFuncAttributeMaxDynamicSharedMemorySize, two));

    whole_window<RADIUS><<<grid, block, one>>>(out[0], in);
    two_passes<RADIUS><<<grid, block, two>>>(out[1], in);
    CHECK(cudaGetLastError());
    compare(RADIUS);
    if (RADIUS <= MAX_RADIUS) {
        convolve(out[0], in, WIDTH, HEIGHT, product, RADIUS);
        compare(RADIUS);
    }
    if (RADIUS <= MAX_RADIUS)
        printf("version 4\t%d\t%.4g\n", RADIUS, rate_of([&](float *to) { convolve(to, in, WIDTH, HEIGHT, product, RADIUS); }));
    printf("whole window\t%d\t%.4g\n", RADIUS, rate_of([&](float *to) { whole_window<RADIUS><<<grid, block, one>>>(to, in); }));
    printf("two passes\t%d\t%.4g\n", RADIUS, rate_of([&](float *to) { two_passes<RADIUS><<<grid, block, two>>>(to, in); }));
}

// To the frequencies, times the filter's, and back; the filter's own are worked out once.
static void measure_transforms(void)
{
    cufftHandle there, back;
    cufftComplex *frequencies, *filter;
    size_t count = (size_t)HEIGHT * (WIDTH / 2 + 1);

    CHECK(cudaMalloc(&frequencies, count * sizeof *frequencies));
    CHECK(cudaMalloc(&filter, count * sizeof *filter));
    CHECK(cudaMemset(filter, 0, count * sizeof *filter));
    CHECK_FFT(cufftPlan2d(&there, HEIGHT, WIDTH, CUFFT_R2C));
    CHECK_FFT(cufftPlan2d(&back, HEIGHT, WIDTH, CUFFT_C2R));
    double rate = rate_of([&](float *to) {
        CHECK_FFT(cufftExecR2C(there, in, frequencies));
        multiply<<<(count + 255) / 256, 256>>>(frequencies, filter, count);
        CHECK_FFT(cufftExecC2R(back, frequencies, to));
    });
    printf("transforms\t1\t%.4g\ntransforms\t16\t%.4g\n", rate, rate);
}

int main(void)
{
    std::vector<float> pixels((size_t)WIDTH * HEIGHT);
    unsigned random = 7;
    cudaDeviceProp device;
    time_t now = time(NULL);
    char date[16];

    for (float &pixel : pixels)
        random = random * 1664525 + 1013904223, pixel = (random >> 8) / 16777216.0f;
    CHECK(cudaMalloc(&in, pixels.size() * sizeof(float)));
    for (float *&to : out)
        CHECK(cudaMalloc(&to, pixels.size() * sizeof(float)));
    CHECK(cudaMemcpy(in, pixels.data(), pixels.size() * sizeof(float), cudaMemcpyHostToDevice));

    CHECK(cudaGetDeviceProperties(&device, 0));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# Written by profiles/figures/07-stencil.cu on %s, on an %s; %d x %d floats\n", date, device.name, WIDTH, HEIGHT);
    printf("# A copy: %.4g\n# series, radius, 10^9 pixels a second\n",
           rate_of([&](float *to) { copy<<<pixels.size() / 4 / 256, 256>>>((float4 *)to, (const float4 *)in); }));
    measure<1>();
    measure<2>();
    measure<3>();
    measure<4>();
    measure<6>();
    measure<8>();
    measure<12>();
    measure<16>();
    measure_transforms();
}
