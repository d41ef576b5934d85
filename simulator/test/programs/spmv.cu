// expect: exit 0
// A sparse matrix times a vector: a thread for each row, a warp for each row, and by columns with atomics; through constant
// pointers (ld.global.nc) and a structure of pointers as the kernel's argument.
#include "numbers.h"

struct Sparse {
    int rows;
    const int *first, *column;
    const double *value;
};

__global__ void row_by_thread(double *y, Sparse a, const double *__restrict__ x)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= a.rows) return;
    double sum = 0;
    for (int k = a.first[row]; k < a.first[row + 1]; k++) sum = fma(a.value[k], __ldg(&x[a.column[k]]), sum);
    y[row] = sum;
}

__global__ void row_by_warp(double *y, Sparse a, const double *__restrict__ x)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (row >= a.rows) return;
    double sum = 0;
    for (int k = a.first[row] + lane; k < a.first[row + 1]; k += warpSize) sum += a.value[k] * x[a.column[k]];
    for (int half = warpSize / 2; half; half /= 2) sum += __shfl_xor_sync(0xffffffff, sum, half);
    if (lane == 0) y[row] = sum;
}

// The transposed matrix times x.
__global__ void by_columns(double *y, Sparse a, const double *x)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= a.rows) return;
    for (int k = a.first[row]; k < a.first[row + 1]; k++) atomicAdd(&y[a.column[k]], a.value[k] * x[row]);
}

int main()
{
    int rows = 500;
    std::vector<int> first(1), column;
    std::vector<double> value, x = real_numbers<double>(rows, 41), want(rows), turned(rows);
    unsigned seed = 42;
    for (int row = 0; row < rows; row++) {
        int length = row == 7 ? 300 : (int)(next_number(&seed) % 12);
        for (int k = 0; k < length; k++) {
            column.push_back((int)(next_number(&seed) % (unsigned)rows));
            value.push_back(next_number(&seed) / 1e7 - 0.8);
            want[row] += value.back() * x[column.back()];
            turned[column.back()] += value.back() * x[row];
        }
        first.push_back((int)column.size());
    }
    int *device_first = on_device(first), *device_column = on_device(column);
    double *device_value = on_device(value), *device_x = on_device(x), *y = room_for<double>(rows);
    Sparse a = { rows, device_first, device_column, device_value };
    row_by_thread<<<4, 128>>>(y, a, device_x);
    check_close(from_device(y, rows), want, 1e-12);
    row_by_warp<<<(rows * 32 + 255) / 256, 256>>>(y, a, device_x);
    check_close(from_device(y, rows), want, 1e-12);
    OK(cudaMemset(y, 0, rows * sizeof *y));
    by_columns<<<4, 128>>>(y, a, device_x);
    check_close(from_device(y, rows), turned, 1e-11);
    free_all(device_first, device_column, device_value, device_x, y);
}
