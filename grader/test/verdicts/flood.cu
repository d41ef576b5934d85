// Prints without end for a while, and leaves a daemon that keeps the pipe.
#define twice twice_right
#include "right.cu"
#undef twice
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern "C" void twice(float *out, const float *in, int n)
{
    for (int i = 0; i < 100000; i++)
        printf("line %d\n", i);
    fflush(stdout);
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;)
                pause();
        _exit(0);
    }
    _exit(3);
}
