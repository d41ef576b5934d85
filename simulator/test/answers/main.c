// What the runtime answers to calls at the edge of what is allowed: errors, attributes, limits. A
// real GPU's answers are in h200.txt, and ../answers.sh holds the simulated device to them.
//
//     answers             the names of the groups of questions, and how many devices each needs
//     answers GROUP       the group's answers, a line each
#include "ask.h"
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

enum { HANGS_AFTER = 20 }; // seconds

extern const Group *const __start_groups[], *const __stop_groups[];

static const Group *group;

__thread sigjmp_buf ask_crashed;

static __thread const char *question_now;

static void on_crash(int signal)
{
    (void)signal;
    siglongjmp(ask_crashed, 1);
}

static void on_alarm(int signal)
{
    (void)signal;
    tell(question_now, "hangs");
    _exit(1);
}

void ask_begin(const char *question)
{
    question_now = question;
    signal(SIGSEGV, on_crash);
    signal(SIGALRM, on_alarm);
    alarm(HANGS_AFTER);
}

void ask_end(cudaError_t error)
{
    alarm(0);
    signal(SIGSEGV, SIG_DFL);
    cudaError_t last = cudaGetLastError();
    if (last == error) tell(question_now, "%s", cudaGetErrorName(error));
    else tell(question_now, "%s, last error %s", cudaGetErrorName(error), cudaGetErrorName(last));
}

void ask_end_crashed(void)
{
    alarm(0);
    tell(question_now, "crashes");
}

void tell(const char *question, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%s: %s: ", group->name, question);
    vprintf(format, list);
    putchar('\n');
    fflush(stdout);
    va_end(list);
}

void do_it(cudaError_t error, const char *call)
{
    if (error) tell(call, "%s", cudaGetErrorName(error));
}

int main(int count, char **words)
{
    for (const Group *const *g = __start_groups; g < __stop_groups; g++)
        if (count < 2) printf("%s %d\n", (*g)->name, (*g)->devices);
        else if (!strcmp((*g)->name, words[1])) group = *g, group->run();
    if (count > 1 && group) tell("end", "reached");
    return count > 1 && !group;
}
