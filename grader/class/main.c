// build/grader/class [--gpu PARTITION] [--slurm] SUBMISSIONS GRADES: grades a class (class.h), here
// or on a cluster; with --gpu what is right on GPUs too, in that partition of the cluster's (1: its
// default one).
// build/grader/class [--gpu 1] --batch FILE GRADES: a part of it, as a task of the cluster's: on
// the simulated device, or on GPUs.
// build/grader/class --gradescope FOLDER GRADES: FOLDER/submission, to FOLDER/results/results.json.
// build/grader/class COMMAND NAME=VALUE...: the commands about it (command.h).
// It is called in the project's root. UNTRUSTED=1 in the environment: grades where submissions
// cannot be kept apart, too, and enters marks that such a run has made.
#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void say_refused(const Class *c)
{
    for (size_t n = 0; n < c->count; n++) {
        const Submission *s = &c->submission[n];
        char *student = text_clean(s->student);
        if (s->refused)
            printf("Refused: %s's %s, since %s\n", student, *s->lesson ? s->lesson : "submission",
                   s->refused);
        free(student);
    }
}

static void say_end(const Class *c)
{
    size_t timeless = 0, deadlines = 0, unknown = 0, untrusted = 0;
    printf("%zu submissions of %zu students: %s/gradebook.csv, %s/marks.csv\n", c->count,
           c->students, c->grades, c->grades);
    say_refused(c);
    if (c->forgotten)
        printf("Left out: %zu student%s who %s forgotten\n", c->forgotten,
               c->forgotten == 1 ? "" : "s", c->forgotten == 1 ? "was" : "were");
    regrade_say_older(c);
    for (size_t n = 0; n < c->strays; n++) {
        char *words = text_clean(c->stray[n]);
        puts(words);
        free(words);
    }
    for (size_t n = 0; n < c->rules.lessons; n++)
        deadlines += c->rules.lesson[n].deadline != NO_TIME;
    for (size_t n = 0; n < c->marks; n++) {
        timeless += deadlines && c->mark[n].submission && c->mark[n].late_days < 0;
        untrusted += strcmp(c->mark[n].verdict, "UNTRUSTED") == 0;
        unknown += *c->mark[n].verdict && isnan(c->mark[n].points)
                && strcmp(c->mark[n].verdict, "EXCUSED") != 0;
    }
    if (timeless)
        printf(
            "Submissions without a time, which count as handed in on time: %zu. manifest.csv could "
            "say when they were handed in.\n",
            timeless);
    if (untrusted)
        printf("Marks that are left out, since their results are not trusted: %zu.\n", untrusted);
    if (unknown > untrusted)
        printf("Marks that are not known, since the grader failed: %zu. These students have no "
               "total.\n",
               unknown - untrusted);
}

static int cores(void)
{
    const char *given = getenv("SLURM_CPUS_ON_NODE"); // those of the task
    int count = given ? atoi(given) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : 1;
}

static int grade_batch(Class *c, const char *file, const char *root, bool on_gpus)
{
    if (!secret_open(c->grades)) {
        file_amiss(c->grades);
        return 1;
    }
    return !(trust_find() && class_read_batch(c, file)
             && (on_gpus ? class_run_on_gpus(c, root) : class_run(c, root, cores())));
}

// On the simulated device, and then what is right there on GPUs.
static bool run(const Class *c, const char *root, bool slurm, const char *gpu)
{
    bool good = slurm ? class_run_on_slurm(c, root, NULL) : class_run(c, root, cores());
    if (!gpu) return good;
    return (slurm ? class_run_on_slurm(c, root, gpu) : class_run_on_gpus(c, root)) && good;
}

static int grade_class(Class *c, const char *root, bool slurm, const char *gpu)
{
    bool may = trust_find();
    if (!class_collect(c)) return 1;
    if (!class_is_alone(c->grades)) return 1;
    if (!c->students) {
        fprintf(stderr,
                "%s: there is nothing to grade. It should have a folder for each student, or an "
                "archive, with files that are named as those of exercises/ are.\n",
                c->folder);
        return 1;
    }
    bool good = may && run(c, root, slurm, gpu);
    class_sweep(c);
    if (!command_keep_folder(c) || !class_mark(c) || !class_write_book(c)) {
        file_amiss(c->grades);
        return 1;
    }
    say_end(c);
    return !good;
}

// What the file says for a student is in it; what is said here is for instructors.
static int grade_gradescope(Class *c, const char *root)
{
    c->only = "submission";
    bool good = trust_find() && class_collect(c) && class_is_alone(c->grades)
             && class_run(c, root, cores()) && class_mark(c) && class_write_gradescope(c);
    if (good) say_refused(c);
    return !good;
}

// What each option takes besides GRADES.
static const struct {
    const char *option, *takes;
} options[] = { { "--slurm", "SUBMISSIONS" },
                { "--batch", "a file" },
                { "--gradescope", "a folder" } };

// False: it has said that there is no such option, or what it takes.
static bool option_is_good(const char *option, int count)
{
    for (size_t n = 0; n < sizeof options / sizeof *options; n++)
        if (strcmp(options[n].option, option) == 0) {
            if (count == 4) return true;
            fprintf(stderr, "class: %s takes %s and GRADES\n", option, options[n].takes);
            return false;
        }
    fprintf(stderr, "class: there is no option %s. A folder of that name is ./%s\n", option,
            option);
    return false;
}

int main(int count, char **words)
{
    char root[PATH_MAX];
    umask(CLASS_UMASK);
    if (count == 2 && strcmp(words[1], "--unpack") == 0) return unpack_main();
    const char *gpu = count > 2 && strcmp(words[1], "--gpu") == 0 ? words[2] : NULL;
    if (gpu) words[2] = words[0], words += 2, count -= 2;
    const char *option = count > 1 && words[1][0] == '-' ? words[1] : "";
    if (strcmp(option, "--help") == 0) option = ""; // command.h's
    int status;
    if (*option && !option_is_good(option, count)) return 2;
    if (!*option && !(gpu && count == 3) && command_main(count, words, &status)) return status;
    if (!getcwd(root, sizeof root)) return 1;
    char **paths = words + count - 2;
    Class c = { .folder = paths[0], .grades = paths[1] };
    if (strcmp(option, "--gradescope") == 0) return grade_gradescope(&c, root);
    if (strcmp(option, "--batch") == 0) return grade_batch(&c, paths[0], root, gpu);
    return grade_class(&c, root, *option, gpu);
}
