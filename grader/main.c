// The grader of one lesson: NN-name [--result FILE.json] SUBMISSION.cu
//
// Compiles the submission, runs the lesson's checks with Criterion (each in a
// process of its own, with a device and a worker of its own), gathers their
// records, judges, prints the verdict, and writes the JSON result. Exits with 0
// for PASS alone, 1 for any other verdict, 2 when it was called wrongly.
#define _GNU_SOURCE
#include "compile.h"
#include "process.h"
#include "result.h"
#include "run.h"
#include "text.h"
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <criterion/internal/ordered-set.h>
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The run's folder: build/run/NN-name.PID ----

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// What killed runs of this lesson have left.
static void remove_stale(const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *pid = strrchr(found.gl_pathv[i], '.');
            if (pid && kill(atoi(pid + 1), 0) < 0 && errno == ESRCH)
                remove_folder(found.gl_pathv[i]);
        }
    globfree(&found);
}

static bool make_folder(const char *path)
{
    char *part = strdup(path);
    for (char *c = part + 1; *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(part, 0777);
            *c = '/';
        }
    free(part);
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// ---- Criterion ----

// Fills Criterion's list: what it says of each check, which the record must agree with.
typedef struct Ran {
    const char *check;
    bool passed;
    struct Ran *next;
} Ran;
static Ran *ran;

static void remember(const struct criterion_test_stats *stats, bool passed)
{
    Ran *r = malloc(sizeof *r);
    *r = (Ran){.check = stats->test->name, .passed = passed, .next = ran};
    ran = r;
}

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    remember(stats, stats->test_status == CR_STATUS_PASSED && !stats->crashed && !stats->timed_out);
}

ReportHook(TEST_CRASH)(struct criterion_test_stats *stats)
{
    remember(stats, false);
}

static bool criterion_passed(const char *check)
{
    bool passed = false;
    for (const Ran *r = ran; r; r = r->next)
        if (strcmp(r->check, check) == 0) {
            if (!r->passed)
                return false;
            passed = true;
        }
    return passed;
}

// ---- Records ----

static json_t *broken_record(const struct criterion_test *test, const char *why)
{
    json_t *fact = fact_new(VERDICT_GRADER_ERROR, text_format("The check %s %s", test->name, why),
                            NULL, "report this, with your file");
    return json_pack("{ss si s[o]}", "check", test->name, "source_line", (int)test->data->line_,
                     "facts", fact);
}

// The check's record, if it is there and Criterion agrees with it.
static json_t *read_record(const struct criterion_test *test)
{
    char *path = text_format("%s/%s.json", run_folder(), test->name);
    json_t *record = json_load_file(path, 0, NULL);
    const char *name = json_string_value(json_object_get(record, "check"));
    free(path);
    if (!name || strcmp(name, test->name) != 0)
        return broken_record(test, "left no record");
    if (record_verdict(record) == VERDICT_PASS && !criterion_passed(test->name))
        return broken_record(test, "did not come to its end");
    return record;
}

static int by_line(const void *a, const void *b)
{
    const struct criterion_test *const *x = a, *const *y = b;
    return (int)(*x)->data->line_ - (int)(*y)->data->line_;
}

static json_t *read_records(struct criterion_test_set *set)
{
    struct criterion_test **tests = malloc((set->tests + 1) * sizeof *tests);
    size_t count = 0;
    FOREACH_SET(struct criterion_suite_set *suite, set->suites)
        FOREACH_SET(struct criterion_test *test, suite->tests)
            tests[count++] = test;
    qsort(tests, count, sizeof *tests, by_line);

    json_t *records = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(records, read_record(tests[i]));
    free(tests);
    return records;
}

static json_t *run_checks(void)
{
    bool verbose = getenv("VERBOSE") && *getenv("VERBOSE");
    struct criterion_test_set *set = criterion_initialize();
    criterion_options.logging_threshold = verbose ? CRITERION_INFO : CRITERION_LOG_LEVEL_QUIET;
    criterion_options.color = false;
    criterion_run_all_tests(set);
    process_sweep();
    json_t *records = read_records(set);
    criterion_finalize(set);
    return records;
}

// ---- The main act ----

typedef struct Options {
    const char *result, *submission;
} Options;

static Options parse(int argc, char **argv)
{
    Options o = {0};
    bool good = argc > 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--result") == 0 && i + 1 < argc)
            o.result = argv[++i];
        else if (argv[i][0] != '-' && !o.submission)
            o.submission = argv[i];
        else
            good = false;
    }
    if (!good || !o.submission) {
        fprintf(stderr, "usage: %s [--result FILE.json] SUBMISSION.cu\n", argv[0]);
        exit(2);
    }
    if (access(o.submission, R_OK) != 0) {
        fprintf(stderr, "%s: %s\n", o.submission, strerror(errno));
        exit(2);
    }
    return o;
}

// The program is ROOT/build/grader/NN-name as it was called, links left as they
// are: a scratch tree may borrow the program of another.
static const char *root_of(const char *program)
{
    char here[PATH_MAX];
    bool whole = *program == '/' || !getcwd(here, sizeof here);
    char *path = whole ? strdup(program) : text_format("%s/%s", here, program);
    for (int up = 0; up < 3 && strrchr(path, '/'); up++)
        *strrchr(path, '/') = 0;
    return path;
}

// The submission lies in a folder of that name.
static bool lies_in(const char *submission, const char *name)
{
    const char *slash = strrchr(submission, '/');
    size_t n = strlen(name), m = slash ? (size_t)(slash - submission) : 0;
    return m >= n && strncmp(slash - n, name, n) == 0;
}

// What to type to be graded again.
static const char *again_command(const char *program, const char *submission, int number)
{
    if (lies_in(submission, "exercises"))
        return text_format("make lesson-%d", number);
    if (lies_in(submission, "solutions"))
        return text_format("make solution-%d", number);
    return text_format("%s %s", program, submission);
}

// The next lesson of which there is an exercise.
static const char *next_lesson(const char *root, int number)
{
    int next = INT_MAX;
    glob_t found;
    char *pattern = text_format("%s/exercises/[0-9][0-9]-*.cu", root);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            int n = atoi(basename(found.gl_pathv[i]));
            if (n > number && n < next)
                next = n;
        }
    globfree(&found);
    free(pattern);
    return next == INT_MAX ? NULL : text_format("make lesson-%d", next);
}

// Why there is nothing to run, or NULL when there is a worker now.
static json_t *prepare(const Result *r, const char *root)
{
    if (run_profile_problem())
        return fact_new(VERDICT_GRADER_ERROR, run_profile_problem(), NULL, "mend the profile");
    if (!*run_device())
        return fact_new(VERDICT_NODEVICE, "DEVICE is empty, and this grader measures on the "
                        "simulated device", NULL, "leave DEVICE unset");

    switch (compile_submission(root, run_folder(), r->submission)) {
    case COMPILED:
        return NULL;
    case COMPILE_LATE:
        return fact_new(VERDICT_BUILD, "the compiler was stopped after a minute", NULL, NULL);
    case COMPILE_NO_COMPILER:
        return fact_new(VERDICT_NODEVICE,
                        text_format("nvcc cannot be started: %s", strerror(errno)), NULL,
                        "make doctor");
    case COMPILE_NO_HARNESS:
        return fact_new(VERDICT_GRADER_ERROR, "build/grader/worker.o is missing", NULL,
                        "make lesson-1, which builds it");
    default:
        return fact_new(VERDICT_BUILD, "The compiler's own words stand above.", NULL,
                        "mend the first error; later ones may follow from it");
    }
}

static bool write_result(const Result *r, const char *root, const char *path)
{
    // Our own answer must not stand for the student's.
    bool ours = lies_in(r->submission, "solutions");
    char *folder = text_format("%s/build/results%s", root, ours ? "/solutions" : "");
    char *standard = text_format("%s/%s.json", folder, r->lesson);
    make_folder(folder);
    const char *target = path ? path : standard;
    bool good = json_write(target, result_json(r));
    if (!good)
        fprintf(stderr, "%s cannot be written: %s\n", target, strerror(errno));
    free(folder);
    free(standard);
    return good;
}

int main(int argc, char **argv)
{
    Options options = parse(argc, argv);
    const char *lesson = strdup(basename(argv[0])), *root = root_of(argv[0]);
    int number = atoi(lesson);

    process_adopt();
    char *stale = text_format("%s/build/run/%s.*", root, lesson);
    char *folder = text_format("%s/build/run/%s.%d", root, lesson, getpid());
    remove_stale(stale);
    if (!make_folder(folder)) {
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
        return 2;
    }
    run_export(lesson, root, folder);

    const char *device = getenv("PROFILE");
    Result r = {
        .lesson = lesson, .submission = options.submission, .seed = run_seed(),
        .device = device && *device ? device : "h200", .records = json_array(),
        .again = again_command(argv[0], options.submission, number),
        .forward = next_lesson(root, number),
    };
    result_find_todo(&r);
    json_t *refusal = prepare(&r, root);
    if (refusal) {
        result_refuse(&r, refusal);
    } else {
        r.records = run_checks();
        result_judge(&r, run_profile());
    }

    remove_folder(folder);
    bool written = write_result(&r, root, options.result);
    result_print(&r, stdout);
    fflush(stdout);
    return r.verdict == VERDICT_PASS && written ? 0 : 1;
}
