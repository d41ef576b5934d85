// build/grader/class SUBMISSIONS GRADES: grades a class (class.h). It is called in the project's
// root.
#define _GNU_SOURCE
#include "class.h"
#include "text.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <fcntl.h>
#include <unistd.h>

// Two runs into one folder would grade the same submissions. The lock goes with the process.
static bool is_alone(const char *grades)
{
    int folder = open(grades, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0;
}

// Here a class's programs could not be kept apart from each other, or from the grades.
static bool has_sandbox(void)
{
    if (system("build/grader/sandbox --check >/dev/null 2>&1") == 0) return true;
    fputs(
        "This machine refuses the sandbox that a class's submissions run in: nothing was graded.\n"
        "To see why, type: build/grader/sandbox --check\n",
        stderr);
    return false;
}

static void say_end(const Class *c)
{
    size_t students = 0;
    for (size_t n = 0; n < c->count; n++) students += class_is_new_student(c, n);
    printf("%zu submissions of %zu students: %s/gradebook.csv\n", c->count, students, c->grades);
    for (size_t n = 0; n < c->count; n++) {
        const Submission *s = &c->submission[n];
        char *student = text_clean(s->student);
        if (s->refused) printf("Refused: %s's %s, since %s\n", student, s->lesson, s->refused);
        free(student);
    }
}

int main(int count, char **words)
{
    char root[PATH_MAX];
    if (count != 3 || !getcwd(root, sizeof root)) {
        fprintf(stderr, "usage: %s SUBMISSIONS GRADES\n", words[0]);
        return 2;
    }
    Class c = { .folder = words[1], .grades = words[2] };
    if (!has_sandbox() || !class_collect(&c)) return 1;
    if (!is_alone(c.grades)) {
        fprintf(stderr, "%s: another run is grading into this folder. Wait until it has ended.\n",
                c.grades);
        return 1;
    }
    if (!c.count) {
        fprintf(stderr,
                "%s: there is nothing to grade. It should have a folder for each student, with "
                "files that are named as those of exercises/ are.\n",
                c.folder);
        return 1;
    }
    bool good = class_run(&c, root, (int)sysconf(_SC_NPROCESSORS_ONLN));
    if (!class_write_book(&c)) {
        fprintf(stderr, "%s: %s\n", c.grades, strerror(errno));
        return 1;
    }
    say_end(&c);
    return !good;
}
