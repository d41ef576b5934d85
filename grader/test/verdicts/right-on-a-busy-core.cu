// A second's work takes three where two others want the same core; the limit is two.
#define twice twice_right
#include "right.cu"
#undef twice
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern "C" void twice(float *out, const float *in, int n)
{
    cpu_set_t all, one;
    pid_t other[2];
    sched_getaffinity(0, sizeof all, &all);
    if (n == 33) {
        CPU_ZERO(&one);
        for (int c = 0; c < CPU_SETSIZE && !CPU_COUNT(&one); c++)
            if (CPU_ISSET(c, &all))
                CPU_SET(c, &one);
        sched_setaffinity(0, sizeof one, &one);
        for (pid_t &pid : other)
            if ((pid = fork()) == 0)
                for (volatile int i = 0;; i++);
        struct timespec mine;
        do
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mine);
        while (mine.tv_sec < 1);
        for (pid_t pid : other)
            kill(pid, SIGKILL), waitpid(pid, NULL, 0);
        sched_setaffinity(0, sizeof all, &all);
    }
    twice_right(out, in, n);
}
