// A class on GPUs: what is right on the simulated device is run and timed there too, one submission
// at a time to a GPU, or to two where its lesson is about several devices. The result says what
// came of it. A GPU is locked by its device node, so
// that two runs on this machine take turns.
//
// In a process that the submission shares with the harness nothing is safe from the submission:
// neither what a call is said to have taken, nor when it was done. So the level of trust of what a
// GPU says is always "no", and the mark is the simulated device's unless class.cfg says otherwise.
#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "gpu.h"
#include "text.h"
#include "verdict.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static Gpu here;
static int lock[GPUS_MOST];

int gpus_find(void)
{
    bool found = gpu_find(&here);
    for (int n = 0; n < GPUS_MOST; n++) lock[n] = -1;
    if (!found)
        fputs("There is no GPU here that its driver can use, so nothing was timed. To see why, "
              "type: make doctor\n",
              stderr);
    else if (strstr(here.name, " MIG "))
        fprintf(stderr,
                "%s is a part of a GPU (MIG), and its device nodes are not known to the "
                "sandbox. Take a whole GPU.\n",
                here.name),
            found = false;
    return !found ? 0 : here.count < GPUS_MOST ? here.count : GPUS_MOST;
}

char *gpus_named(int n, int count)
{
    char *names = strdup(here.one[n].uuid);
    for (int next = n + 1; next < n + count; next++) {
        char *more = text_format("%s,%s", names, here.one[next].uuid);
        free(names);
        names = more;
    }
    return names;
}

// The last of the nodes is this GPU's own; the others are every GPU's.
static bool take(int n)
{
    Gpu alone = here;
    alone.count = 1;
    alone.one[0] = here.one[n];
    char **nodes = gpu_nodes(&alone), *own = NULL;
    for (char **node = nodes; *node; node++) own = *node;
    int file = own ? open(own, O_RDONLY | O_CLOEXEC) : -1;
    bool good = !own || (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0);
    static bool said;
    if (!good && !said)
        fprintf(stderr, "%s: %s\n", own,
                file < 0 ? strerror(errno) : "another run has this GPU; this one waits for it");
    said = said || !good;
    if (good) lock[n] = file;
    else if (file >= 0) close(file);
    for (char **node = nodes; *node; node++) free(*node);
    free(nodes);
    return good;
}

bool gpus_take(int n, int count)
{
    int taken = 0;
    while (taken < count && take(n + taken)) taken++;
    if (taken < count) gpus_leave(n, taken);
    return taken == count;
}

void gpus_leave(int n, int count)
{
    for (int last = n + count; n < last; n++) {
        if (lock[n] >= 0) close(lock[n]);
        lock[n] = -1;
    }
}

// ---- Results

bool gpus_is_right(const json_t *result)
{
    const char *verdict = text_of(result, "verdict");
    return strcmp(verdict, verdict_word(VERDICT_PASS)) == 0
        || strcmp(verdict, verdict_word(VERDICT_SLOW)) == 0;
}

int gpus_wanted(const Submission *s, int most)
{
    json_t *result = json_load_file(s->result, 0, NULL), *check;
    size_t n;
    bool several = false;
    json_array_foreach(json_object_get(result, "checks"), n, check) several |=
        json_integer_value(json_object_get(check, "compulsory_link")) > 0;
    json_decref(result);
    return several && most > 1 ? 2 : 1;
}

// The grader's own failures are tried again by another run. A variant is graded on the simulated
// device alone.
bool gpus_is_due(const Submission *s)
{
    json_t *result = json_load_file(s->result, 0, NULL), *gpu = json_object_get(result, "gpu");
    const char *hash = text_of(json_object_get(result, "class"), "hash"),
               *verdict = text_of(gpu, "verdict");
    bool due = !s->variant && strcmp(hash, s->hash) == 0 && gpus_is_right(result)
            && (!*verdict || verdict_from_word(verdict) == VERDICT_GRADER_ERROR);
    json_decref(result);
    return due;
}

static json_t *read_words(const char *path)
{
    size_t count = 0;
    char *text = file_read(path, &count);
    json_t *words = count > 0 ? json_stringn(text, count) : NULL;
    free(text);
    return words;
}

// `timed` is the grader's result of both devices together, or NULL: it has none.
bool gpus_keep(const Submission *s, const json_t *timed, const char *words)
{
    json_t *result = json_load_file(s->result, 0, NULL), *gpu = json_object_get(timed, "gpu");
    gpu = gpu ? json_deep_copy(gpu) : json_object();
    const char *verdict = text_of(timed, "verdict");
    json_object_set_new(gpu, "verdict",
                        json_string(*verdict ? verdict : verdict_word(VERDICT_GRADER_ERROR)));
    json_object_set_new(gpu, "trusted", json_string(trust_word(NULL)));
    json_object_set_new(gpu, "isolation", json_string(trust_isolation()));
    json_object_set(gpu, "score", json_object_get(timed, "score"));
    json_object_set(gpu, "fact", json_object_get(timed, "fact"));
    json_object_set_new(gpu, "words", read_words(words));
    bool good = json_object_set_new(result, "gpu", gpu) == 0 && json_write(s->result, result);
    if (!good) file_amiss(s->result);
    json_decref(result);
    return good;
}

char *gpus_say(const json_t *result)
{
    const json_t *gpu = json_object_get(result, "gpu");
    const char *device = text_of(gpu, "device"), *verdict = text_of(gpu, "verdict");
    bool gold = json_is_true(json_object_get(json_object_get(gpu, "score"), "gold"));
    if (!gpu) return strdup("");
    return text_format(" and %s%s%s%s", *device ? device : "a GPU", *verdict ? ": " : "", verdict,
                       gold ? " gold" : "");
}
