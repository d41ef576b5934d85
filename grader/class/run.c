// The lessons' graders: each in a process of its own, which ends with us, and under a clock. One
// submission stops no other: whatever its grader does, there is a result in the end.
#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "process.h"
#include "text.h"
#include "token.h"
#include "toolkit.h"
#include "verdict.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 600, TRIES = 2 };

typedef struct Job {
    const Submission *submission;
    pid_t pid; // 0: none
    double began;
    int tries;
    int gpu, gpus;        // of gpu.c: the first of them, and how many; -1: on the simulated device
    char *result, *words; // as the grader writes them
} Job;

const char *class_version(void)
{
    static char line[32];
    FILE *f = *line ? NULL : fopen("VERSION", "re");
    if (f && fgets(line, sizeof line, f)) line[strcspn(line, "\n")] = 0;
    if (f) fclose(f);
    return line;
}

const char *class_toolkit(void)
{
    static char *toolkit;
    if (!toolkit) toolkit = toolkit_version();
    return toolkit ? toolkit : "";
}

static bool is_fault(const json_t *result)
{
    const char *verdict = text_of(result, "verdict");
    return !*verdict || strcmp(verdict, verdict_word(VERDICT_GRADER_ERROR)) == 0;
}

static bool stands(const Submission *s, const json_t *result)
{
    return class_is_of(s, result)
        && trust_is_enough(text_of(json_object_get(result, "class"), "trusted"));
}

bool class_is_graded(const Submission *s)
{
    json_t *result = json_load_file(s->result, 0, NULL);
    bool graded = stands(s, result);
    json_decref(result);
    return graded;
}

// It has no result, or none that is a mark, as the grader has failed.
static bool is_due(const Submission *s)
{
    json_t *result = json_load_file(s->result, 0, NULL);
    bool due = !stands(s, result) || is_fault(result);
    json_decref(result);
    return due;
}

// ---- One job

static void seed_of(const Submission *s, char *seed)
{
    char *what = text_format("%s %s", s->lesson, s->hash);
    secret_keyed("seed", what, seed, SEED_DIGITS);
    free(what);
}

static void start(Job *j, const char *root)
{
    char digits[SEED_DIGITS + 1];
    seed_of(j->submission, digits);
    char *grader = text_format("%s/build/grader/%s", root, j->submission->lesson);
    char *seed = text_format("SEED=%s", digits);
    char *sandbox = text_format("WARPWISE_SANDBOX=%s/build/grader/sandbox", root);
    // Where it is sealed it is called as it is at home, and the student is told of it so.
    char *file = strrchr(j->submission->sealed, '/') - strlen("exercises");
    char *folder = strndup(j->submission->sealed, (size_t)(file - j->submission->sealed));
    bool on_gpu = j->gpu >= 0;
    const char *argv[] = { "env",
                           "-C",
                           folder,
                           grader,
                           "--result",
                           j->result,
                           file,
                           on_gpu ? "--simulated" : NULL,
                           j->submission->result,
                           NULL };
    char *isolation = text_format("WARPWISE_ISOLATION=%s", trust_isolation());
    char *device = text_format("DEVICE=%s", on_gpu ? "" : trust_device()),
         *variant = text_format("VARIANT=%s", j->submission->variant ? j->submission->variant : "");
    char *gpus = on_gpu ? gpus_named(j->gpu, j->gpus) : strdup("");
    char *visible = text_format("CUDA_VISIBLE_DEVICES%s%s", on_gpu ? "=" : "", gpus);
    const char *environment[] = { seed,      sandbox,      isolation, "NO_COLOR=1", device,
                                  "PROFILE", "GPU_SHARED", visible,   variant,      NULL };
    // Files that nobody has open yet: a run that was just killed may still be writing to its own.
    unlink(j->words);
    unlink(j->result);
    int words = open(j->words, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    j->began = seconds_now();
    j->tries++;
    const mode_t mask = umask(022); // where there are no namespaces, a grader has several users
    j->pid = words < 0 ? -1
                       : process_start(&(Spawn){ .argv = argv,
                                                 .environment = environment,
                                                 .from = { words, words },
                                                 .to = { 1, 2 },
                                                 .descriptors = 2,
                                                 .trusted = true }); // it makes sandboxes
    umask(mask);
    if (words >= 0) close(words);
    free(folder);
    free(grader);
    free(seed);
    free(sandbox);
    free(isolation);
    free(device);
    free(variant);
    free(gpus);
    free(visible);
}

// The result of a file that was handed in before, or of another variant, stays, under a name with
// that file's hash.
static void keep_former(const Submission *s)
{
    enum { DIGITS = 12 };
    json_t *former = json_load_file(s->result, 0, NULL);
    const char *hash = class_hash_of(former);
    if (hash && strlen(hash) == HASH_DIGITS && !class_is_of(s, former)) {
        char *result = text_format("%.*s.%.*s.json", (int)(strlen(s->result) - strlen(".json")),
                                   s->result, DIGITS, hash),
             *words = text_format("%.*s.%.*s.txt", (int)(strlen(s->words) - strlen(".txt")),
                                  s->words, DIGITS, hash);
        rename(s->words, words);
        rename(s->result, result);
        free(result);
        free(words);
    }
    json_decref(former);
}

// Keeps what the grader has found, or that it found nothing.
static bool keep(Job *j, const char *root, json_t *result)
{
    const Submission *s = j->submission;
    char seed[SEED_DIGITS + 1], build[HASH_DIGITS + 1];
    trust_build(root, s->lesson, build);
    seed_of(s, seed);
    if (!result)
        result = json_pack("{ss ss*}", "verdict", verdict_word(VERDICT_GRADER_ERROR), "variant",
                           s->variant);
    keep_former(s);
    json_object_set_new(result, "class",
                        json_pack("{ss ss ss ss ss ss}", "hash", s->hash, "version",
                                  class_version(), "toolkit", class_toolkit(), "seed", seed,
                                  "trusted", trust_level(), "build", build));
    char *token = token_of(result);
    if (token) json_object_set_new(json_object_get(result, "class"), "token", json_string(token));
    free(token);
    bool good = rename(j->words, s->words) == 0 && json_write(s->result, result);
    if (!good) file_amiss(s->result);
    unlink(j->result);
    json_decref(result);
    return good;
}

// The same of a GPU, which adds to the result that is there.
static bool keep_timed(Job *j, json_t *result)
{
    bool good = gpus_keep(j->submission, result, j->words);
    unlink(j->result);
    unlink(j->words);
    json_decref(result);
    gpus_leave(j->gpu, j->gpus);
    return good;
}

// Takes a job's end. False: its result cannot be written.
static bool end(Job *j, const char *root)
{
    json_t *result = json_load_file(j->result, 0, NULL);
    j->pid = 0;
    if (is_fault(result) && j->tries < TRIES) {
        json_decref(result);
        start(j, root);
        return true;
    }
    bool good = j->gpu < 0 ? keep(j, root, result) : keep_timed(j, result);
    free(j->result);
    free(j->words);
    *j = (Job){ 0 };
    return good;
}

static void begin(Job *j, const Submission *s, const char *root, int gpu, int gpus)
{
    *j = (Job){ .submission = s,
                .gpu = gpu,
                .gpus = gpus,
                .result = text_format("%s.new", s->result),
                .words = text_format("%s.new", s->words) };
    start(j, root);
}

// ---- All of them

void class_tell(const Class *c, size_t done, size_t all, double began)
{
    double seconds = seconds_now() - began;
    if (!isatty(STDERR_FILENO) || !all) return;
    fprintf(stderr, "\r%zu of %zu %s%sgraded", done, all, c->graded ? c->graded : "",
            c->graded ? " " : "");
    if (!done) return;
    double left = seconds / (double)done * (double)(all - done);
    fprintf(stderr, ", %.0f a minute, %.0f %s left   ", 60 * (double)done / seconds,
            left < 90 ? left : left / 60, left < 90 ? "s" : "min");
    if (done == all) fputc('\n', stderr);
}

// Jobs that have ended, or must. Returns how many are done for good; *good becomes false when a
// result cannot be written.
static size_t look(Job *jobs, int at_once, const char *root, bool *good)
{
    size_t done = 0;
    for (Job *j = jobs; j < jobs + at_once; j++) {
        if (!j->submission) continue;
        bool late = j->pid > 0 && seconds_now() - j->began > MOST_SECONDS;
        if (late) kill(j->pid, SIGKILL);
        bool ended = j->pid < 0 || waitpid(j->pid, NULL, late ? 0 : WNOHANG) == j->pid;
        if (!ended) continue;
        *good = end(j, root) && *good;
        done += !j->submission;
    }
    return done;
}

static bool is_due_on(const Submission *s, bool on_gpus)
{
    return on_gpus ? gpus_is_due(s) : is_due(s);
}

const Submission **class_find_due(const Class *c, bool on_gpus, size_t *count)
{
    const Submission **due = calloc(c->count, sizeof *due);
    *count = 0;
    for (size_t n = 0; due && n < c->count; n++) {
        const Submission *s = &c->submission[n];
        if (s->sealed && !s->shared && is_due_on(s, on_gpus)) due[(*count)++] = s;
    }
    return due;
}

// Says that the grader has failed on some, and where it is said why.
static void tell_failed(const Submission **due, size_t count, bool on_gpus)
{
    size_t failed = 0;
    const char *first = NULL;
    for (size_t n = 0; n < count; n++) {
        if (!is_due_on(due[n], on_gpus)) continue;
        if (!failed++) first = on_gpus ? due[n]->result : due[n]->words;
    }
    if (failed)
        fprintf(stderr,
                "%zu of %zu are GRADER-ERROR%s, the grader's own failure, and cost no points. Read "
                "%s, mend that, and type the same again.\n",
                failed, count, on_gpus ? " on the GPU" : "", first);
}

// Takes so many GPUs, from number n on. False: not now.
static bool take_gpus(const Job *jobs, int n, int count, int at_once)
{
    if (n > 0 && jobs[n - 1].submission && jobs[n - 1].gpus > 1) return false;
    if (n + count > at_once) return false;
    for (int beside = n + 1; beside < n + count; beside++)
        if (jobs[beside].submission) return false;
    return gpus_take(n, count);
}

// On the simulated device, or a job to each of so many GPUs, or to two of them.
static bool run(const Class *c, const char *root, int at_once, bool on_gpus)
{
    size_t all, done = 0, next = 0;
    const Submission **due = class_find_due(c, on_gpus, &all);
    Job *jobs = calloc((size_t)at_once, sizeof *jobs);
    bool good = due && jobs;
    double began = seconds_now();
    int gpus = 0; // that the next one takes; 0: not known yet
    process_adopt();
    class_tell(c, 0, all, began);
    while (good && done < all) {
        for (int n = 0; n < at_once && next < all; n++) {
            if (on_gpus && !gpus) gpus = gpus_wanted(due[next], at_once);
            if (jobs[n].submission || (on_gpus && !take_gpus(jobs, n, gpus, at_once))) continue;
            begin(&jobs[n], due[next++], root, on_gpus ? n : -1, gpus);
            gpus = 0;
        }
        poll(NULL, 0, 20);
        size_t before = done;
        done += look(jobs, at_once, root, &good);
        if (done > before) class_tell(c, done, all, began);
    }
    process_sweep();
    if (good) tell_failed(due, all, on_gpus);
    free(jobs);
    free(due);
    return good;
}

bool class_run(const Class *c, const char *root, int at_once)
{
    return run(c, root, at_once, false);
}

bool class_run_on_gpus(const Class *c, const char *root)
{
    int gpus = gpus_find();
    return gpus && run(c, root, gpus, true);
}
