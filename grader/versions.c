// Holds the versions of a solution to the lesson's profile, and records them in the lesson's
// summary.
#include "versions.h"
#include "claims.h"
#include "run.h"
#include "summary.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Says what is wrong, if anything is. Returns the exit status.
static int end(const char *problem)
{
    if (problem) printf("%s\n", problem);
    return problem != NULL;
}

// Holds `count` versions to the profile.
static int hold(const char *lesson, bool on_gpu, json_t *const *results, size_t count)
{
    size_t held = 0, wrong;
    if (run_profile_problem()) return end(run_profile_problem());
    wrong = claims_hold(run_profile(), on_gpu, results, count, stdout, &held);
    if (!on_gpu) wrong += ladder_hold(&run_profile()->ladder, results, count, stdout, &held);
    printf("%s: %zu bounds and steps looked at, %zu not as the profile says\n", lesson, held,
           wrong);
    return wrong != 0;
}

// --hold RESULT.json...
static int hold_results(const char *lesson, int argc, char **argv)
{
    json_t *results[SUMMARY_VERSIONS] = { 0 };
    if (argc > SUMMARY_VERSIONS) argc = SUMMARY_VERSIONS;
    for (int i = 0; i < argc; i++) results[i] = json_load_file(argv[i], 0, NULL);
    return hold(lesson, false, results, (size_t)argc);
}

// --hold gpu SUMMARY.json COUNT
static int hold_summary(const char *lesson, const char *path, int count)
{
    json_t *versions[SUMMARY_VERSIONS] = { 0 };
    const char *problem = summary_read(path, lesson, versions);
    if (count < 1 || count > SUMMARY_VERSIONS) problem = "how many versions has the solution?";
    return problem ? end(problem) : hold(lesson, true, versions, (size_t)count);
}

// --summary SUMMARY.json RESULT.json...
static int summarise(const char *lesson, const char *path, int argc, char **argv)
{
    json_t *versions[SUMMARY_VERSIONS] = { 0 };
    const char *problem = summary_read(path, lesson, versions);
    int found = 0;
    for (int i = 0; i < argc && i < SUMMARY_VERSIONS && !problem; i++) {
        if (access(argv[i], F_OK) != 0) continue;
        found++;
        json_t *result = json_load_file(argv[i], 0, NULL);
        versions[i] = summary_of(result, lesson, i + 1, &problem);
        json_decref(result);
        if (problem) problem = text_format("%s: %s", argv[i], problem);
    }
    if (!problem && !found) problem = "none of these results is there";
    if (!problem && !summary_write(path, lesson, versions))
        problem = text_format("%s cannot be written: %s", path, strerror(errno));
    return end(problem);
}

bool versions_use(const char *word)
{
    return strcmp(word, "--hold") == 0 || strcmp(word, "--summary") == 0;
}

int versions_main(const char *lesson, int argc, char **argv)
{
    if (strcmp(argv[0], "--summary") == 0 && argc > 2)
        return summarise(lesson, argv[1], argc - 2, argv + 2);
    if (strcmp(argv[0], "--hold") == 0 && argc == 4 && strcmp(argv[1], "gpu") == 0)
        return hold_summary(lesson, argv[2], atoi(argv[3]));
    if (strcmp(argv[0], "--hold") == 0 && argc > 1 && strcmp(argv[1], "gpu") != 0)
        return hold_results(lesson, argc - 1, argv + 1);
    fprintf(stderr,
            "usage: %s --hold RESULT.json...\n"
            "       %s --hold gpu SUMMARY.json COUNT\n"
            "       %s --summary SUMMARY.json RESULT.json...\n",
            lesson, lesson, lesson);
    return 2;
}
