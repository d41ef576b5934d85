// What lesson 25 says of formats and of sums in few bits. No GPU is needed, since the host works it all out. From the
// repository's root:
//
//     nvcc -O2 -o build/quantization profiles/figures/25-quantization.cu && build/quantization
//
// The weights are those of the lesson's measure of error: rows of 4,096 numbers of a normal distribution, one of which is an
// outlier of 24. The output is in 25-quantization.txt.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuda_fp8.h>
#include <vector>

enum { ROWS = 256, COLS = 4096 };

static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

static double normal(uint32_t key)
{
    double u = (mixed(key) + 1.0) / 0x1p32, v = mixed(~key * 0x9e3779b9u) / 0x1p32;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static std::vector<double> row_of(int r, double outlier)
{
    std::vector<double> row(COLS);
    for (int c = 0; c < COLS; c++)
        row[c] = normal(r * COLS + c);
    if (outlier > 0)
        row[mixed(r + 1000000) % COLS] = outlier;
    return row;
}

// The formats: what comes back of a weight whose group's largest is `largest`.
static double whole(double x, double largest, int levels) { return rint(x / largest * levels) * largest / levels; }
static double four(double x, double largest) { return whole(x, largest, 7); }
static double eight(double x, double largest) { return whole(x, largest, 127); }
static double fp8(double x, double largest) { return (float)__nv_fp8_e4m3((float)(x / largest * 448)) * largest / 448; }

typedef double Format(double x, double largest);

static double error_of(Format *format, int group, double outlier)
{
    double all = 0;
    for (int r = 0; r < ROWS; r++) {
        std::vector<double> row = row_of(r, outlier);
        double errors = 0;
        for (int first = 0; first < COLS; first += group) {
            double largest = 0;
            for (int c = first; c < first + group; c++)
                largest = fmax(largest, fabs(row[c]));
            for (int c = first; c < first + group; c++)
                errors += pow(format(row[c], largest) - row[c], 2);
        }
        all += errors / COLS / ROWS;
    }
    return sqrt(all);
}

// Keeps so many bits of x, and cuts off the rest.
static double cut(double x, int bits)
{
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(trunc(ldexp(fraction, bits)), exponent - bits);
}

// The error of sums of COLS products of fp8, beside the sums' own root mean square. Partial sums of `level` products have 14
// bits, 32 products at a time; they are added to a float.
static double sum_error(int level)
{
    double errors = 0, squares = 0;
    for (int r = 0; r < ROWS; r++) {
        double exact = 0, part = 0;
        float sum = 0;
        for (int c = 0; c < COLS; c += 32) {
            double products = 0;
            for (int i = c; i < c + 32; i++)
                products += fp8(normal(r * COLS + i), 448) * fp8(normal(~(r * COLS + i)), 448);
            exact += products;
            part = cut(part + products, 14);
            if ((c + 32) % level == 0)
                sum += (float)part, part = 0;
        }
        errors += pow(sum - exact, 2), squares += exact * exact;
    }
    return sqrt(errors / squares);
}

int main(void)
{
    static const struct {
        const char *name;
        Format *format;
    } formats[] = { { "4 bits", four }, { "8 bits", eight }, { "fp8", fp8 } };

    for (auto f : formats)
        for (int group = 16; group <= COLS; group *= 2)
            printf("%s\t%d\t%.3g\n", f.name, group, error_of(f.format, group, 24));
    for (auto f : formats)
        printf("# %s, no outlier: %.3g a row, %.3g in groups of 128\n", f.name, error_of(f.format, COLS, 0),
               error_of(f.format, 128, 0));
    printf("# sums of %d products of fp8: %.2g in 14 bits, %.2g if each 128 of them are added to a float\n", COLS,
           sum_error(COLS), sum_error(128));
    return 0;
}
