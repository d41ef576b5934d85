// A fresh skeleton for a lesson. The student's work is never lost: it stays beside it, numbered.
#define _GNU_SOURCE
#include "study.h"
#include "process.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Derives the skeleton into `path`, as `make check` has it.
static bool write_skeleton(const Lesson *lesson, const char *path)
{
    char *solution = text_format("solutions/%s.cu", lesson->name);
    const char *argv[] = { "awk", "-f", "solutions/strip.awk", solution, NULL };
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666), status = 1;
    Spawn spawn = { .argv = argv, .from = { fd, STDERR_FILENO }, .to = { 1, 2 }, .descriptors = 2 };
    pid_t pid = fd < 0 ? -1 : process_start(&spawn);
    bool ended = pid > 0 && process_wait(pid, 10, &status);
    free(solution);
    return fd >= 0 && close(fd) == 0 && ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool same_content(const char *a, const char *b)
{
    FILE *f = fopen(a, "re"), *g = fopen(b, "re");
    int c = 0, d = 0;
    while (f && g && c != EOF && c == d) {
        c = fgetc(f);
        d = fgetc(g);
    }
    bool same = f && g && c == d;
    if (f) fclose(f);
    if (g) fclose(g);
    return same;
}

// The first number of which there is no copy yet, as `cp --backup=numbered` names them.
static char *free_copy(const char *path)
{
    for (int k = 1;; k++) {
        char *copy = text_format("%s.~%d~", path, k);
        if (access(copy, F_OK) != 0) return copy;
        free(copy);
    }
}

// True: go on. YES=1 answers for whoever has no terminal.
static bool agreed(const Lesson *lesson)
{
    const char *yes = getenv("YES");
    char answer[16] = "";
    if (yes && strcmp(yes, "1") == 0) return true;
    if (!isatty(STDIN_FILENO)) {
        say_state(ASKS, "RESET", "lesson %d: not done; there is no terminal to ask on",
                  lesson->number);
        say(2, "To do it anyway: make reset-%d YES=1", lesson->number);
        return false;
    }
    say_state(ASKS, "RESET",
              "lesson %d: %s begins anew? Your work is kept beside it. Type y for "
              "yes, anything else for no:",
              lesson->number, lesson->exercise);
    fputs("  > ", stdout);
    fflush(stdout);
    bool yes_typed = fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
    if (!yes_typed) printf("  Nothing was changed.\n");
    return yes_typed;
}

// The old work moves aside, then the skeleton into its place: at no moment are both gone.
static int replace(const Lesson *lesson, const char *fresh)
{
    bool exists = access(lesson->exercise, F_OK) == 0;
    char *copy = free_copy(lesson->exercise), *hints = text_format("build/hints/%s", lesson->name);
    if ((exists && rename(lesson->exercise, copy) != 0) || rename(fresh, lesson->exercise) != 0) {
        printf("%s cannot be replaced: %s\n", lesson->exercise, strerror(errno));
        return 1;
    }
    unlink(hints); // they begin with the first again
    say_state(TELLS, "RESET", "lesson %d: %s is fresh", lesson->number, lesson->exercise);
    if (exists) say(2, "Your work is kept: %s", copy);
    say(2, "Next: make lesson-%d", lesson->number);
    free(copy);
    free(hints);
    return 0;
}

int reset(const Lesson *lesson)
{
    char *fresh = text_format("%s.fresh", lesson->exercise);
    int status = 1;
    if (!write_skeleton(lesson, fresh)) {
        printf("The skeleton of lesson %d cannot be made. Type: make check\n", lesson->number);
    } else if (same_content(fresh, lesson->exercise)) {
        say_state(TELLS, "RESET", "lesson %d: %s is fresh already", lesson->number,
                  lesson->exercise);
        status = 0;
    } else if (access(lesson->exercise, F_OK) != 0 || agreed(lesson)) {
        status = replace(lesson, fresh);
    } else if (isatty(STDIN_FILENO)) {
        status = 0; // a no is no failure
    }
    unlink(fresh);
    free(fresh);
    return status;
}
