// The benchmark's kernels in OpenCL, statement by statement those of cuda.cu.

__kernel void vector_add(__global float *out, __global const float *a, __global const float *b, int n)
{
    int i = get_global_id(0);
    if (i < n) out[i] = a[i] + b[i];
}

__kernel void block_sum(__global float *out, __global const float *a, __global const float *b, int n)
{
    __local float sum[BLOCK];
    int i = get_global_id(0), t = get_local_id(0);
    sum[t] = i < n ? a[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = BLOCK / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) sum[t] += sum[t + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = sum[0];
}

__kernel void matmul_naive(__global float *out, __global const float *a, __global const float *b, int n)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    out[row * n + column] = sum;
}

__kernel void matmul_tiled(__global float *out, __global const float *a, __global const float *b, int n)
{
    __local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile_a[y][x] = a[row * n + first + x];
        tile_b[y][x] = b[(first + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[row * n + column] = sum;
}
