// The benchmark's kernels on the first OpenCL device that there is. Usage: opencl KERNEL N
// (work.h), in the folder of kernels.cl; `opencl` alone prints the device's name.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "work.h"

#define CHECK(call) check((call), __LINE__)

static void check(cl_int error, int line)
{
    if (error == CL_SUCCESS) return;
    fprintf(stderr, "%s:%d: OpenCL error %d\n", __FILE__, line, error);
    exit(1);
}

typedef struct {
    cl_command_queue queue;
    cl_kernel kernel;
    const Work *work;
    size_t n;
} Call;

static void launch(void *state)
{
    const Call *c = state;
    size_t threads[2] = { c->n, c->n }, group[2] = { TILE, TILE };
    if (!c->work->tiled) threads[0] = (c->n + BLOCK - 1) / BLOCK * BLOCK, group[0] = BLOCK;
    CHECK(clEnqueueNDRangeKernel(c->queue, c->kernel, c->work->tiled ? 2 : 1, NULL, threads, group,
                                 0, NULL, NULL));
    CHECK(clFinish(c->queue));
}

static cl_program build(cl_context context, cl_device_id device)
{
    static char text[1 << 16], options[64];
    const char *source = text;
    cl_int error;
    FILE *file = fopen("kernels.cl", "r");
    if (!file || !fread(text, 1, sizeof text - 1, file)) {
        perror("kernels.cl");
        exit(1);
    }
    fclose(file);
    snprintf(options, sizeof options, "-DBLOCK=%d -DTILE=%d", BLOCK, TILE);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    CHECK(error);
    CHECK(clBuildProgram(program, 1, &device, options, NULL, NULL));
    return program;
}

static cl_mem on_device(cl_context context, float *from, size_t bytes)
{
    cl_int error;
    cl_mem memory =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, from, &error);
    CHECK(error);
    return memory;
}

int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    char name[256] = "";
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    if (argc != 3) {
        CHECK(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof name, name, NULL));
        return !puts(name);
    }
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    CHECK(error);
    const Work *work = work_find(argv[1]);
    cl_int n = atoi(argv[2]);
    Call call = { clCreateCommandQueue(context, device, 0, &error), NULL, work, (size_t)n };
    CHECK(error);
    call.kernel = clCreateKernel(build(context, device), work->name, &error);
    CHECK(error);

    size_t count = work->matrices ? (size_t)n * n : (size_t)n,
           results = work->sums ? (count + BLOCK - 1) / BLOCK : count;
    float *numbers = calloc(count, sizeof *numbers);
    cl_mem out = on_device(context, numbers, results * sizeof *numbers);
    work_fill(numbers, count, 5);
    cl_mem a = on_device(context, numbers, count * sizeof *numbers);
    work_fill(numbers, count, 3);
    cl_mem b = on_device(context, numbers, count * sizeof *numbers);
    CHECK(clSetKernelArg(call.kernel, 0, sizeof out, &out));
    CHECK(clSetKernelArg(call.kernel, 1, sizeof a, &a));
    CHECK(clSetKernelArg(call.kernel, 2, sizeof b, &b));
    CHECK(clSetKernelArg(call.kernel, 3, sizeof n, &n));
    double median;
    int runs;
    work_measure(launch, &call, &median, &runs);
    CHECK(clEnqueueReadBuffer(call.queue, out, CL_TRUE, 0, results * sizeof *numbers, numbers, 0,
                              NULL, NULL));
    printf("%.6f %d %.0f\n", median, runs, work_sum(numbers, results));
    free(numbers);
}
