// expect: exit 0
// run: --devices 3
// CUDA_VISIBLE_DEVICES, as an H200's runtime reads it: which devices there are, by their places on the bus, and in which order.
// Each list is tried in a process of its own.
#include "check.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void look(const char *list, cudaError_t error, const char *buses)
{
    char found[64] = "", bus[32];
    int count = -1;
    pid_t child = fork();
    if (child) {
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        return;
    }
    setenv("CUDA_VISIBLE_DEVICES", list, 1);
    CHECK(cudaGetDeviceCount(&count) == error);
    CHECK(error ? count == -1 : count == (int)strlen(buses));
    for (int d = 0; d < count; d++) {
        int back;
        OK(cudaDeviceGetPCIBusId(bus, sizeof bus, d));
        OK(cudaDeviceGetByPCIBusId(&back, bus));
        CHECK(back == d);
        found[d] = bus[6];                  // 0000:1N:00.0
    }
    if (strcmp(found, buses))
        fprintf(stderr, "%s: %s, not %s\n", list, found, buses);
    exit(strcmp(found, buses) != 0);
}

// What one process uses of a device, others find gone, by whatever number they know it.
static void use()
{
    int ready[2], done[2];
    char c;
    size_t before, after, all;
    CHECK(pipe(ready) == 0 && pipe(done) == 0);
    pid_t child = fork();
    if (!child) {
        void *p;
        setenv("CUDA_VISIBLE_DEVICES", "2", 1);
        CHECK(read(done[0], &c, 1) == 1);
        OK(cudaMalloc(&p, 64 << 20));
        CHECK(write(ready[1], "x", 1) == 1 && read(done[0], &c, 1) == 1);
        OK(cudaFree(p));
        exit(0);
    }
    OK(cudaSetDevice(2));
    OK(cudaMemGetInfo(&before, &all));
    CHECK(write(done[1], "x", 1) == 1 && read(ready[0], &c, 1) == 1);
    OK(cudaMemGetInfo(&after, &all));
    CHECK(before - after == 64 << 20);
    CHECK(write(done[1], "x", 1) == 1);
    CHECK(waitpid(child, NULL, 0) == child);
}

int main()
{
    look("0", cudaSuccess, "0");
    look("2", cudaSuccess, "2");
    look("2,0,1", cudaSuccess, "201");
    look("1,5,0", cudaSuccess, "1");
    look("1,-1,0", cudaSuccess, "1");
    look("0,x", cudaSuccess, "0");
    look(" 1", cudaSuccess, "1");
    look("0 ,1", cudaSuccess, "01");
    look("0,1,", cudaSuccess, "01");
    look("", cudaErrorNoDevice, "");
    look("-1", cudaErrorNoDevice, "");
    look("5", cudaErrorNoDevice, "");
    look("x", cudaErrorNoDevice, "");
    look("0,0", cudaErrorInvalidDevice, "");
    use();
}
