// A class on a cluster: its submissions in batches, each a task of one Slurm array (sbatch(1)). The
// nodes need this folder and GRADES under the same paths. What a task leaves ungraded, because
// somebody cancelled it or its node failed, is submitted once more.
#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "process.h"
#include "text.h"
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The fewest and the most submissions of a task, which takes Slurm about a second to schedule; and
// how many arrays in a row may end with nothing graded.
// LOOK: seconds between two looks at the queue.
enum { LEAST = 20, MOST = 50, FRUITLESS = 2, LOOK = 2, NAME_DIGITS = 12 };

// The array of this folder of grades, by whichever run it was submitted: "warpwise-0123456789ab".
static char *job_name(const Class *c)
{
    char digits[NAME_DIGITS + 1];
    secret_keyed("job", c->grades, digits, NAME_DIGITS);
    return text_format("warpwise-%s", digits);
}

// One of Slurm's commands. False: it, or we, have said what went wrong.
static bool run(const char *const *argv)
{
    int status = 0;
    pid_t pid = process_start(&(Spawn){ .argv = argv });
    if (pid >= 0) return waitpid(pid, &status, 0) == pid && status == 0;
    fprintf(stderr, "%s: %s. Can jobs be submitted on this machine?\n", argv[0], strerror(errno));
    return false;
}

// ---- What an earlier run has left

// Are tasks of that name left? Where Slurm does not answer, they may be.
static bool is_queued(const char *name)
{
    char *command = text_format("squeue --noheader --name=%s", name);
    FILE *lines = popen(command, "re");
    bool some = lines && fgetc(lines) != EOF;
    free(command);
    return !lines || pclose(lines) != 0 || some;
}

// A run that was killed leaves its array behind, which would grade what we do.
static bool cancel(const char *name)
{
    char *filter = text_format("--name=%s", name);
    const char *argv[] = { "scancel", filter, NULL };
    bool good = run(argv);
    while (good && is_queued(name)) sleep(LOOK);
    free(filter);
    return good;
}

// ---- Batches

static json_t *batch_of(const Submission *const *due, size_t from, size_t to)
{
    json_t *batch = json_array();
    for (size_t n = from; n < to; n++)
        json_array_append_new(batch, json_pack("{ss ss* ss ss ss ss}", "lesson", due[n]->lesson,
                                               "variant", due[n]->variant, "hash", due[n]->hash,
                                               "sealed", due[n]->sealed, "result", due[n]->result,
                                               "words", due[n]->words));
    return batch;
}

// As few in each as keep the array below 64 tasks, between LEAST and MOST. Returns how many batches
// were written, or 0: it has said why.
static size_t write_batches(const Class *c, const Submission *const *due, size_t all)
{
    size_t each = (all + 63) / 64, count = 0;
    if (each < LEAST) each = LEAST;
    if (each > MOST) each = MOST;
    for (size_t from = 0; from < all; from += each, count++) {
        char *path = text_format("%s/batches/%zu.json", c->grades, count);
        json_t *batch = batch_of(due, from, from + each < all ? from + each : all);
        bool good = json_write(path, batch);
        if (!good) file_amiss(path);
        json_decref(batch);
        free(path);
        if (!good) return 0;
    }
    return count;
}

bool class_read_batch(Class *c, const char *path)
{
    json_t *batch = json_load_file(path, 0, NULL), *one;
    size_t n;
    c->count = json_array_size(batch);
    c->submission = calloc(c->count + 1, sizeof *c->submission);
    json_array_foreach(batch, n, one)
    {
        Submission *s = &c->submission[n];
        const char *hash;
        if (json_unpack(one, "{ss s?s ss ss ss ss}", "lesson", &s->lesson, "variant", &s->variant,
                        "hash", &hash, "sealed", &s->sealed, "result", &s->result, "words",
                        &s->words)
                < 0
            || strlen(hash) != HASH_DIGITS)
            c->count = 0;
        else strcpy(s->hash, hash);
    }
    if (!c->count) fprintf(stderr, "%s: this is no batch of a class\n", path);
    return c->count > 0; // the strings are the array's, which lives as long as we do
}

// ---- An array

// "%" begins what Slurm replaces in a file's name.
static char *escaped(const char *path)
{
    char *text = malloc(2 * strlen(path) + 1), *to = text;
    for (; text && *path; path++) {
        if (*path == '%') *to++ = '%';
        *to++ = *path;
    }
    if (text) *to = 0;
    return text;
}

static size_t count_graded(const Submission *const *due, size_t all, bool on_gpus)
{
    size_t done = 0;
    for (size_t n = 0; n < all; n++)
        done += on_gpus ? !gpus_is_due(due[n]) : class_is_graded(due[n]);
    return done;
}

// Submits the array, and waits until all of its tasks have ended, however they did. On GPUs each
// task has one. False: it could not be submitted.
static bool run_array(const Class *c, const char *root, const char *name, const char *gpu_partition,
                      size_t batches, const Submission *const *due, size_t all)
{
    double began = seconds_now();
    char *range = text_format("--array=0-%zu", batches - 1), *grades = escaped(c->grades),
         *out = text_format("--output=%s/batches/%%a.txt", grades),
         *at = text_format("--chdir=%s", root), *job = text_format("--job-name=%s", name);
    char *partition = text_format("--partition=%s", gpu_partition ? gpu_partition : "");
    const char *argv[16] = { "sbatch", "--quiet", range, job, out, at };
    size_t n = 6;
    if (gpu_partition) argv[n++] = "--gres=gpu:1";
    if (gpu_partition && strcmp(gpu_partition, "1") != 0) argv[n++] = partition;
    argv[n++] = "grader/class/slurm.sh";
    argv[n++] = c->grades;
    if (gpu_partition) argv[n++] = "--gpu";
    bool good = run(argv); // sbatch --wait would look twice a minute
    while (good && is_queued(name)) {
        sleep(LOOK);
        class_tell(c, count_graded(due, all, gpu_partition), all, began);
    }
    free(range);
    free(grades);
    free(out);
    free(at);
    free(job);
    free(partition);
    return good;
}

bool class_run_on_slurm(const Class *c, const char *root, const char *gpu_partition)
{
    size_t all = SIZE_MAX;
    char *name = job_name(c), *folder = text_format("%s/batches", c->grades);
    bool good = folder_make(folder) && cancel(name);
    for (int fruitless = 0; good;) {
        size_t before = all;
        const Submission **due = class_find_due(c, gpu_partition, &all);
        fruitless = all < before ? 0 : fruitless + 1;
        if (!all || fruitless == FRUITLESS) {
            free(due);
            break;
        }
        size_t batches = write_batches(c, due, all);
        good = batches && run_array(c, root, name, gpu_partition, batches, due, all);
        free(due);
    }
    if (good && all)
        fprintf(stderr, "%zu submissions are not graded. What the tasks said is in %s/*.txt\n", all,
                folder);
    free(name);
    free(folder);
    return good && !all;
}
