// expect: exit 0
// varies: the order of the host's threads
// Several threads use the device at once.
#include "check.h"
#include <pthread.h>
#include <string.h>

static void *work(void *number)
{
    static const size_t bytes = 3 << 20;
    unsigned char *from = malloc(bytes), *to = malloc(bytes), *p;
    memset(from, (int)(size_t)number, bytes);
    for (int round = 0; round < 5; round++) {
        OK(cudaMalloc((void **)&p, bytes));
        OK(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
        OK(cudaMemcpy(to, p, bytes, cudaMemcpyDeviceToHost));
        CHECK(memcmp(from, to, bytes) == 0);
        OK(cudaFree(p));
    }
    free(from);
    free(to);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
