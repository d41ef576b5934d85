// printf in kernels.
#include "ask.h"
#include <fcntl.h>
#include <unistd.h>

static void run_all(const char *question, const void *kernel, void **arguments)
{
    ask(question, launch(kernel, 1, 1, arguments, 0, 0));
    fflush(stdout);
    ask("then", cudaDeviceSynchronize());
}

GROUP(prints, 1)
{
    void *null = NULL, *both[] = { &null, &null };
    run_all("integers", (const void *)print_integers, NULL);
    run_all("floats", (const void *)print_floats, NULL);
    run_all("pointers", (const void *)print_pointers, both);
}

// What a file descriptor gets while the call is made.
static size_t caught(int fd, cudaError_t (*call)(void), char *words, size_t room)
{
    char path[] = "/tmp/answers-XXXXXX";
    fflush(stdout);
    int file = mkstemp(path), before = dup(fd);
    dup2(file, fd);
    cudaError_t error = call();
    fflush(stdout);
    fflush(stderr);
    dup2(before, fd);
    DO(error);
    off_t bytes = lseek(file, 0, SEEK_END);
    lseek(file, 0, SEEK_SET);
    ssize_t got = read(file, words, room - 1);
    words[got > 0 ? got : 0] = 0;
    unlink(path);
    close(file), close(before);
    return (size_t)bytes;
}

static cudaError_t wait(void) { return cudaDeviceSynchronize(); }

static void print_lines(const char *what, const void *kernel, int lines)
{
    static char words[4096];
    int *gave;
    char question[80];
    DO(cudaMallocManaged((void **)&gave, 4, cudaMemAttachGlobal));
    *gave = 77;
    void *arguments[] = { &lines, &gave };
    DO(launch(kernel, 1, 1, arguments, 0, 0));
    size_t bytes = caught(1, wait, words, sizeof words), count = 0;
    char *last = words;
    for (char *p = words; *p; p++)
        if (*p == '\n') {
            count++;
            if (p[1]) last = p + 1;
        }
    snprintf(question, sizeof question, "%d %s", lines, what);
    tell(question, "%zu bytes, %zu lines, the first %.8s, the last %.8s, the last printf gave %d",
         bytes, count, words, last, *gave);
}

GROUP(prints_room, 1)
{
    size_t limit = 0;
    DO(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    tell("room", "%zu", limit);
    ask("a million bytes", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    DO(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    tell("room then", "%zu", limit);
    print_lines("numbers", (const void *)print_many, 100);
    print_lines("numbers", (const void *)print_many, 10);
    ask("ten thousand bytes, once it is used", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 10000));
    DO(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    tell("room at last", "%zu", limit);
    print_lines("numbers, more than there is room for", (const void *)print_many, 200000);
}

GROUP(prints_long, 1)
{
    int *gave;
    DO(cudaMallocManaged((void **)&gave, 64, cudaMemAttachGlobal));
    void *arguments[] = { &gave };
    run_all("long ones", (const void *)print_long, arguments);
    for (int i = 0; i < 7; i++) {
        char question[16];
        snprintf(question, sizeof question, "printf %d", i);
        tell(question, "gave %d", gave[i]);
    }
}
