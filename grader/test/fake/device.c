// A fake device for the grader's own tests: device --report FD --limit N --devices N -- PROGRAM
// ARGS Writes the lines of $FAKE_EVENTS to FD, runs the program with the fake runtime library
// beside it (cudart.c) and FAKE_DEVICE=simulated, and ends the report as a device does.
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void copy_events(const char *path, FILE *report)
{
    FILE *f = path && *path ? fopen(path, "r") : NULL;
    for (int c; f && (c = getc(f)) != EOF;) putc(c, report);
    if (f) fclose(f);
    fflush(report);
}

int main(int argc, char **argv)
{
    if (argc < 9 || strcmp(argv[1], "--report") || strcmp(argv[3], "--limit")
        || strcmp(argv[5], "--devices") || strcmp(argv[7], "--"))
        return 2;
    FILE *report = fdopen(atoi(argv[2]), "w");
    fcntl(atoi(argv[2]), F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    copy_events(getenv("FAKE_EVENTS"), report);

    char self[4096] = { 0 };
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
    setenv("LD_LIBRARY_PATH", dirname(self), 1);
    setenv("FAKE_DEVICE", "simulated", 1);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(argv[8], argv + 8);
        _exit(127);
    }

    // What the program has left in a file is seen as it ends: that may be in one check alone.
    int status;
    char late[32];
    waitpid(pid, &status, 0);
    snprintf(late, sizeof late, "late.%d", pid);
    copy_events(late, report);
    const char *now = getenv("FAKE_CASE");
    if (now && strcmp(now, "device-lost") == 0) return 1; // a device that ends without a word
    if (WIFSIGNALED(status))
        fprintf(report, "{\"event\":\"exit\",\"signal\":%d}\n", WTERMSIG(status));
    else fprintf(report, "{\"event\":\"exit\",\"status\":%d}\n", WEXITSTATUS(status));
    return 0;
}
