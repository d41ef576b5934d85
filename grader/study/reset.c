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
    const char *argv[] = {"awk", "-f", "solutions/strip.awk", solution, NULL};
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666), status = 1;
    Spawn spawn = {.argv = argv, .from = {fd, STDERR_FILENO}, .to = {1, 2}, .descriptors = 2};
    pid_t pid = fd < 0 ? -1 : process_start(&spawn);
    bool good = pid > 0 && process_wait(pid, 10, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    free(solution);
    return fd >= 0 && close(fd) == 0 && good;
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
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return same;
}

// The first number of which there is no copy yet, as `cp --backup=numbered` names them.
static char *free_copy(const char *path)
{
    for (int k = 1;; k++) {
        char *copy = text_format("%s.~%d~", path, k);
        if (access(copy, F_OK) != 0)
            return copy;
        free(copy);
    }
}

// True: go on. YES=1 answers for whoever has no terminal.
static bool agreed(const Lesson *lesson)
{
    const char *yes = getenv("YES");
    char answer[16] = "";
    if (yes && strcmp(yes, "1") == 0)
        return true;
    if (!isatty(STDIN_FILENO)) {
        printf("RESET   lesson %d: not done; there is no terminal to ask on\n", lesson->number);
        printf("  To have it done all the same: make reset-%d YES=1\n", lesson->number);
        return false;
    }
    char *question = text_format("lesson %d: %s begins anew? Your work is kept beside it. Type y for yes, "
                                 "anything else for no:", lesson->number, lesson->exercise);
    text_state(stdout, "1;33", "RESET", question);
    fputs("  > ", stdout);
    fflush(stdout);
    free(question);
    bool yes_typed = fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
    if (!yes_typed)
        printf("  Nothing was changed.\n");
    return yes_typed;
}

static void say(const Lesson *lesson, const char *format, const char *name)
{
    char *words = text_format(format, name);
    char *line = text_format("lesson %d: %s", lesson->number, words);
    text_state(stdout, "1;36", "RESET", line);
    free(words);
    free(line);
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
    unlink(hints);                  // they begin with the first again
    say(lesson, "%s is fresh", lesson->exercise);
    if (exists)
        printf("  Your work is kept: %s\n", copy);
    printf("  Next: make lesson-%d\n", lesson->number);
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
        say(lesson, "%s is fresh already", lesson->exercise);
        status = 0;
    } else if (access(lesson->exercise, F_OK) != 0 || agreed(lesson)) {
        status = replace(lesson, fresh);
    } else if (isatty(STDIN_FILENO)) {
        status = 0;                 // a no is no failure
    }
    unlink(fresh);
    free(fresh);
    return status;
}
