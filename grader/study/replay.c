// Replays a mark on the student's own machine: the same file, with the same inputs, on the same
// simulated device, and what differs here (token.h).
#define _GNU_SOURCE
#include "process.h"
#include "study.h"
#include "text.h"
#include "token.h"
#include "toolkit.h"
#include "verdict.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The first digits of the file's SHA-256; "": sha256sum does not say.
static void hash_file(const char *file, char digits[TOKEN_HASH + 1])
{
    char form[16];
    FILE *f = NULL;
    *digits = 0;
    setenv("REPLAY_FILE", file, 1);
    snprintf(form, sizeof form, "%%%d[0-9a-f]", TOKEN_HASH);
    f = popen("sha256sum <\"$REPLAY_FILE\"", "re");
    if (f && fscanf(f, form, digits) != 1) *digits = 0;
    if (f) pclose(f);
    unsetenv("REPLAY_FILE");
}

// Grades the file as the class's was. NULL: the grader left no result.
static json_t *grade(const Lesson *lesson, const Token *t, const char *file)
{
    char *program = text_format("build/grader/%s", lesson->name),
         *result = text_format("build/replay/%s.json", lesson->name),
         *seed = text_format("SEED=%s", t->seed), *profile = text_format("PROFILE=%s", t->device),
         *here = getcwd(NULL, 0), *device = text_format("DEVICE=%s/simulator/run", here),
         *variant = text_format("VARIANT=%s", t->variant);
    const char *argv[] = { program, "--result", result, file, NULL };
    // With a GPU's part in the mark, the GPU that is here is wanted too.
    const char *environment[] = {
        seed, profile, "ARCH", *t->gpu ? "DEVICE" : device, variant, NULL
    };
    int status;
    fflush(stdout);
    mkdir("build/replay", 0777);
    unlink(result);
    pid_t pid = process_start(&(Spawn){ .argv = argv, .environment = environment });
    if (pid > 0) process_wait(pid, INFINITY, &status);
    else fprintf(stderr, "%s: %s\n", program, strerror(errno));
    json_t *json = json_load_file(result, 0, NULL);
    free(program);
    free(result);
    free(seed);
    free(profile);
    free(device);
    free(variant);
    free(here);
    return json;
}

// The version that grades here: the first word of the file VERSION.
static const char *version(void)
{
    static char word[32];
    FILE *f = fopen("VERSION", "re");
    if (f && fscanf(f, "%31s", word) != 1) *word = 0;
    if (f) fclose(f);
    return word;
}

// Says a part that is another one here. `is` may be NULL: it is not known.
static bool differs(const char *what, const char *was, const char *is)
{
    char *here = token_part(is ? is : "-");
    bool other = strcmp(was, here) != 0;
    if (other) say(8, "%s: %s in the class, and %s here.", what, was, here);
    free(here);
    return other;
}

static char *words_of(const char *verdict, int points)
{
    return points < 0 ? strdup(verdict)
                      : text_format("%s, %d point%s", verdict, points, points == 1 ? "" : "s");
}

static bool says_differences(const Token *t, const json_t *result, const char *hash)
{
    char *toolkit = toolkit_version(), *part = token_part(version());
    const char *gpu = text_of(json_object_get(result, "gpu"), "device");
    bool other = differs("The file's SHA-256", t->hash, *hash ? hash : NULL);
    if (other) say(8, "To replay the file that was handed in, name it: FILE=");
    other = differs("The grader's version", t->version, part) || other;
    other = differs("nvcc's version", t->toolkit, toolkit) || other;
    other = differs("The simulated device", t->device, text_of(result, "device")) || other;
    if (*t->gpu || *gpu)
        other = differs("The GPU", *t->gpu ? t->gpu : "-", *gpu ? gpu : NULL) || other;
    if (*t->gpu)
        say(8, "A part of this mark was measured on a GPU, with inputs that are fresh each time.");
    free(toolkit);
    free(part);
    return other;
}

static int tell(const Token *t, const Lesson *lesson, const json_t *result, const char *hash)
{
    const json_t *speed = json_object_get(json_object_get(result, "score"), "speed");
    int points = json_is_integer(speed) ? (int)json_integer_value(speed) : -1;
    const char *verdict = text_of(result, "verdict");
    char *was = words_of(t->verdict, t->points), *is = words_of(verdict, points);
    bool same = strcmp(was, is) == 0;
    putchar('\n');
    if (same) say_state(WELL, "REPLAY", "lesson %d: %s, as in the class.", lesson->number, was);
    else
        say_state(ASKS, "REPLAY", "lesson %d: %s in the class, and %s here.", lesson->number, was,
                  is);
    bool other = says_differences(t, result, hash);
    if (!same && !other)
        say(8, "Nothing differs that the token tells of: show both to your instructor.");
    free(was);
    free(is);
    return same && !other ? 0 : 1;
}

static int refuse(const char *format, const char *word, const char *more)
{
    fprintf(stderr, format, word, more);
    return 2;
}

int replay(const char *text, const char *file)
{
    Token t;
    const char *why;
    const Lesson *list, *lesson = NULL;
    if (!token_read(&t, text, &why)) return refuse("TOKEN=%s: %s\n", text, why);
    size_t count = lessons(&list);
    for (size_t i = 0; i < count; i++)
        if (list[i].number == t.lesson) lesson = &list[i];
    char *number = text_format("%d", t.lesson),
         *profile = text_format("profiles/devices/%s.cfg", t.device);
    if (!lesson) return refuse("TOKEN=%s: there is no lesson %s here\n", text, number);
    if (!*file) file = lesson->exercise;
    if (access(profile, R_OK) != 0)
        return refuse("%s: %s; the class's device is not known here\n", profile, strerror(errno));
    if (access(file, R_OK) != 0)
        return refuse("%s: %s. FILE=NAME names another\n", file, strerror(errno));
    char hash[TOKEN_HASH + 1];
    hash_file(file, hash);
    json_t *result = grade(lesson, &t, file);
    free(number);
    free(profile);
    if (!result) return refuse("%s: the grader left no result%s\n", file, "");
    int status = tell(&t, lesson, result, hash);
    json_decref(result);
    return status;
}
