// The grader of one lesson: NN-name [OPTIONS] SUBMISSION.cu
//
//     --result FILE.json     where the JSON result goes
//     --check NAME           that check alone (for make accuracy; no claims are judged)
//     --define NAME=VALUE    for the compiler
//     --times N              times what is timed on a GPU N times, and prints what each time came
//     to
//                            (result_print_times, result.h); the last one counts
//     --simulated FILE.json  a result of this very submission: what it says of the simulated device
//                            is not found out again
//
// Or NN-name --hold ... or --summary ... (versions.h), or --variant ... (variant.h), which run
// nothing.
//
// Compiles the submission, runs the lesson's checks with Criterion (each in a
// process of its own, with a device and a worker of its own), gathers their
// records, judges, prints the verdict, and writes the JSON result. The checks run
// on the simulated device first; if all are right and there is a GPU, on the GPU
// too, and then what is timed there. Exits with 0 for PASS alone, 1 for any other
// verdict, 2 when it was called wrongly.
//
// Environment: DEVICE. Unset: the simulated device, and a GPU if there is one. A
// command that ends in simulator/run: that simulated device alone. Anything else,
// also nothing: the GPU is wanted, with this command before the worker. VARIANT: the variant of
// the lesson that is graded (variant.h). GPU_SHARED, if it is set: others use the GPU meanwhile, so
// its memory is not cleared before a sandbox's run.
#define _GNU_SOURCE
#include "file.h"
#include "compile.h"
#include "confine.h"
#include "grader.h"
#include "libraries.h"
#include "peer.h"
#include "process.h"
#include "result.h"
#include "run.h"
#include "session.h"
#include "text.h"
#include "toolkit.h"
#include "variant.h"
#include "versions.h"
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <criterion/internal/ordered-set.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- The run's folder: build/run/NN-name@HOST.PID ----

static bool is_of_this_user(const char *path)
{
    struct stat at;
    return lstat(path, &at) == 0 && at.st_uid == geteuid();
}

// What killed runs have left on this machine: paths whose last number, after `before`, is of a
// process that is no more. In a folder that others have too, only what is this user's. (A run's
// folder is the sandbox's user's, while that compiles.)
static void remove_stale(const char *pattern, char before, bool others_too)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *path = found.gl_pathv[i], *pid = strrchr(path, before);
            if (pid && (others_too || is_of_this_user(path)) && kill(atoi(pid + 1), 0) < 0
                && errno == ESRCH)
                folder_remove(path);
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
    return mkdir(path, confine_is_on() ? 0711 : 0700) == 0
        || errno == EEXIST; // a sandbox has another user
}

// A class's results, with pictures and timelines, are its owner's alone. (What the compiler makes
// is for the sandbox's user, too.)
static void keep_private(void)
{
    if (confine_is_on()) umask(077);
}

// ---- Criterion ----

// Fills Criterion's list: what it says of each check, which the record must agree with.
typedef struct Ran {
    const char *check;
    bool passed;
    struct Ran *next;
} Ran;
static Ran *ran;

// Criterion runs in a process of its own, which tells us here: "1 a_thousand". It waits for every
// child that it has, and would wait for ever for those that it has not made: what a check that was
// killed has left behind comes to us, and not to it.
static int telling = -1;

static void remember(const struct criterion_test_stats *stats, bool passed)
{
    dprintf(telling, "%d %s\n", passed, stats->test->name);
}

static void note_told(int from)
{
    char line[256];
    FILE *told = fdopen(from, "r");
    while (told && fgets(line, sizeof line, told)) {
        line[strcspn(line, "\n")] = 0;
        Ran *r = malloc(sizeof *r);
        *r = (Ran){ .check = strdup(line + 2), .passed = *line == '1', .next = ran };
        ran = r;
    }
    if (told) fclose(told);
}

static void run_criterion(struct criterion_test_set *set)
{
    int told[2];
    fflush(NULL);
    if (pipe2(told, O_CLOEXEC) != 0)
        return perror("no pipe to Criterion"); // no check leaves a record
    pid_t runner = fork();
    if (runner == 0) {
        process_die_with_parent();
        keep_private();
        close(told[0]);
        telling = told[1];
        criterion_run_all_tests(set);
        _exit(0);
    }
    close(told[1]);
    note_told(told[0]);
    if (runner > 0) waitpid(runner, NULL, 0);
}

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    remember(stats, stats->test_status == CR_STATUS_PASSED && !stats->crashed && !stats->timed_out);
}

ReportHook(TEST_CRASH)(struct criterion_test_stats *stats) { remember(stats, false); }

static bool criterion_passed(const char *check)
{
    bool passed = false;
    for (const Ran *r = ran; r; r = r->next)
        if (strcmp(r->check, check) == 0) {
            if (!r->passed) return false;
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
    if (!name || strcmp(name, test->name) != 0) return broken_record(test, "left no record");
    if (record_verdict(record) == VERDICT_PASS && !criterion_passed(test->name))
        return broken_record(test, "did not come to its end");
    return record;
}

static int by_line(const void *a, const void *b)
{
    const struct criterion_test *const *x = a, *const *y = b;
    return (int)(*x)->data->line_ - (int)(*y)->data->line_;
}

static bool is_measure(const struct criterion_test *test)
{
    return test->data->init == grader_begin_measure;
}

static const char *only_check; // --check
static int times;              // --times; 0: once, and it is not told apart

// Is this test one of those that run now?
static bool wanted(const struct criterion_test *test, bool measures)
{
    return is_measure(test) == measures && (!only_check || strcmp(only_check, test->name) == 0);
}

static void append_records(struct criterion_test_set *set, bool measures, json_t *records)
{
    struct criterion_test **tests = malloc((set->tests + 1) * sizeof *tests);
    size_t count = 0;
    FOREACH_SET (struct criterion_suite_set *suite, set->suites)
        FOREACH_SET (struct criterion_test *test, suite->tests)
            if (wanted(test, measures)) tests[count++] = test;
    qsort(tests, count, sizeof *tests, by_line);
    for (size_t i = 0; i < count; i++) json_array_append_new(records, read_record(tests[i]));
    free(tests);
}

static void select_tests(struct criterion_test_set *set, bool measures)
{
    FOREACH_SET (struct criterion_suite_set *suite, set->suites)
        FOREACH_SET (struct criterion_test *test, suite->tests)
            test->data->disabled = !wanted(test, measures);
}

// Criterion can be initialised once, and then run again and again.
static struct criterion_test_set *all_tests(void)
{
    static struct criterion_test_set *set;
    return set ? set : (set = criterion_initialize());
}

// Ends the program if --check names none: what is timed is timed once all checks are right.
static void look_for_check(const char *program)
{
    struct criterion_test_set *set = all_tests();
    FOREACH_SET (struct criterion_suite_set *suite, set->suites)
        FOREACH_SET (struct criterion_test *test, suite->tests)
            if (wanted(test, false)) return;
    fprintf(stderr, "%s: there is no check %s. The checks:", program, only_check);
    FOREACH_SET (struct criterion_suite_set *suite, set->suites)
        FOREACH_SET (struct criterion_test *test, suite->tests)
            if (!is_measure(test)) fprintf(stderr, " %s", test->name);
    fputc('\n', stderr);
    exit(2);
}

// Runs the checks, or what is timed, and appends their records. Criterion would run as many at once
// as there are cores; what is timed has the machine for itself, and each program on a GPU has its
// memory. The driver starts a GPU's programs one after the other, so that little time is lost: on
// an H200 lesson 22 takes 52 s so, 45 s with four checks at once, and 48 s with fifteen.
static void run_tests(bool measures, json_t *records)
{
    bool verbose = getenv("VERBOSE") && *getenv("VERBOSE");
    struct criterion_test_set *set = all_tests();
    criterion_options.logging_threshold = verbose ? CRITERION_INFO : CRITERION_LOG_LEVEL_QUIET;
    criterion_options.color = false;
    criterion_options.jobs = measures || run_on_gpu();
    select_tests(set, measures);
    run_criterion(set);
    process_sweep();
    append_records(set, measures, records);
    ran = NULL;
}

// ---- On a GPU ----

// DEVICE says whether a GPU is wanted, may be used, or is none of its business.
enum wish { GPU_NEVER, GPU_IF_THERE, GPU_ALWAYS };

static enum wish gpu_wish(void)
{
    const char *device = getenv("DEVICE");
    return !device ? GPU_IF_THERE : session_device_reports(device) ? GPU_NEVER : GPU_ALWAYS;
}

static GpuRun *gpu_run_new(const Gpu *gpu)
{
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    GpuRun *g = calloc(1, sizeof *g);
    *g = (GpuRun){
        .gpu = *gpu, .toolkit = toolkit_version(), .date = strdup(date), .records = json_array()
    };
    return g;
}

static bool all_right(const json_t *records)
{
    size_t i;
    json_t *record;
    json_array_foreach(records, i, record) if (record_verdict(record) != VERDICT_PASS) return false;
    return true;
}

static void run_on_the_gpu(Result *r, const char *root)
{
    json_t *refusal = NULL;
    run_use_gpu(&r->gpu->gpu);
    run_set_times(times);
    // What the last program has left in memory is nothing for this one.
    bool alone = !getenv("GPU_SHARED") && confine_is_on();
    if (alone && !(r->gpu->scrubbed = gpu_scrub()))
        return result_refuse(r, fact_new(VERDICT_GRADER_ERROR,
                                         "the GPU's memory cannot be cleared before the run", NULL,
                                         "leave the GPU to this run alone"));
    run_tests(false, r->gpu->records);
    if (run_profile()->targets && !only_check && all_right(r->gpu->records)) {
        refusal = peer_prepare(root);
        if (!refusal) run_tests(true, r->gpu->records);
        result_print_times(r, run_profile(), times, stdout);
    }
    if (refusal) result_refuse(r, refusal);
    else if (!only_check) result_judge_gpu(r, run_profile());
}

// A lesson about several devices takes two GPUs at least; with one the simulated ones grade it.
static void few_gpus(Result *r, const Gpu *gpu)
{
    int devices = run_profile()->devices;
    if (devices == 1 || gpu->count > 1) return;
    r->gpu = NULL;
    r->remark = text_format(
        "It takes two GPUs or more to run this on GPUs, and this machine has one: it was graded "
        "on %d simulated devices alone.",
        devices);
}

// ---- The main act ----

// The submission lies in a folder of that name.
static bool lies_in(const char *submission, const char *name)
{
    const char *slash = strrchr(submission, '/');
    size_t n = strlen(name), m = slash ? (size_t)(slash - submission) : 0;
    return m >= n && strncmp(slash - n, name, n) == 0;
}

typedef struct Options {
    const char *result, *submission, *define, *simulated;
} Options;

static Options parse(int argc, char **argv)
{
    Options o = { 0 };
    bool good = argc > 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--result") == 0 && i + 1 < argc) o.result = argv[++i];
        else if (strcmp(argv[i], "--check") == 0 && i + 1 < argc) only_check = argv[++i];
        else if (strcmp(argv[i], "--define") == 0 && i + 1 < argc)
            o.define = text_format("-D%s", argv[++i]);
        else if (strcmp(argv[i], "--times") == 0 && i + 1 < argc) times = atoi(argv[++i]);
        else if (strcmp(argv[i], "--simulated") == 0 && i + 1 < argc) o.simulated = argv[++i];
        else if (argv[i][0] != '-' && !o.submission) o.submission = argv[i];
        else good = false;
    }
    if (!good || !o.submission) {
        fprintf(stderr,
                "usage: %s [--result FILE.json] [--check NAME] [--define NAME=VALUE] "
                "[--simulated FILE.json] SUBMISSION.cu\n",
                argv[0]);
        exit(2);
    }
    if (access(o.submission, R_OK) != 0) {
        bool lost = errno == ENOENT && lies_in(o.submission, "exercises");
        fprintf(stderr, "%s: %s\n", o.submission, strerror(errno));
        if (lost)
            fprintf(
                stderr,
                "Your work belongs there, under that name. To begin anew, type: make reset-%d\n",
                atoi(basename(argv[0])));
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
    for (int up = 0; up < 3 && strrchr(path, '/'); up++) *strrchr(path, '/') = 0;
    return path;
}

// What to type to be graded again.
static const char *again_command(const char *program, const char *submission, int number)
{
    const char *variant = variant_word();
    if (lies_in(submission, "exercises"))
        return text_format("make lesson-%d%s%s", number, *variant ? " VARIANT=" : "", variant);
    if (lies_in(submission, "solutions")) return text_format("make solution-%d", number);
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
            if (n > number && n < next) next = n;
        }
    globfree(&found);
    free(pattern);
    return next == INT_MAX ? NULL : text_format("make lesson-%d", next);
}

// Why there is nothing to run, or NULL when there is a worker now.
static json_t *prepare(const Result *r, const char *root, const char *define)
{
    if (run_profile_problem())
        return fact_new(VERDICT_GRADER_ERROR, run_profile_problem(), NULL, "mend the profile");
    if (gpu_wish() == GPU_ALWAYS && !r->gpu)
        return fact_new(VERDICT_NODEVICE,
                        *variant_word() ? "DEVICE asks for a GPU, and a variant is graded on the "
                                          "simulated device alone"
                        : r->remark
                            ? "this lesson takes two GPUs or more, and it got one"
                            : "DEVICE asks for a GPU, and there is none that its driver can use",
                        NULL, "leave DEVICE unset, or type: make doctor");

    enum compiled end = compile_program(root, run_folder(), "worker", r->submission,
                                        (const char *[]){ define, NULL }, false);
    if (end != COMPILED) return compile_refusal(end);
    return libraries_refusal(compile_list(run_worker()), run_profile(), r->submission);
}

// Those of another run would stand for this one's, should a check not come so far.
static void remove_timelines(void)
{
    const Profile *p = run_profile();
    for (size_t i = 0; i < p->timelines; i++) unlink(run_timeline(p->timeline[i]));
}

// Where the JSON result goes, unless that is said.
static const char *result_path(const char *lesson, const char *submission, const char *root)
{
    // Our own answer must not stand for the student's.
    bool ours = lies_in(submission, "solutions");
    char *folder = text_format("%s/build/results%s", root, ours ? "/solutions" : "");
    make_folder(folder);
    return text_format("%s/%s.json", folder, lesson);
}

// Takes what the runs before this leave, and asks the student at the terminal for a prediction. Our
// own solutions, and files with TODO lines, are graded without the question.
static void recall(Result *r)
{
    const Ladder *ladder = &run_profile()->ladder;
    if (!ladder->steps) return;
    r->climb = climb_read(run_result(), r->submission, ladder);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !r->todos && !ladder_mends(ladder)
        && !lies_in(r->submission, "solutions"))
        climb_ask(&r->climb, ladder, stdin, stdout);
}

static bool write_result(const Result *r)
{
    bool good = json_write(run_result(), result_json(r));
    if (!good) fprintf(stderr, "%s cannot be written: %s\n", run_result(), strerror(errno));
    return good;
}

// A GPU, if there is one and it is wanted, on which the submission runs as well.
static void find_gpu(Result *r)
{
    Gpu gpu;
    if (gpu_wish() == GPU_NEVER || !gpu_find(&gpu)) return;
    if (*variant_word()) { // what the lesson's calls are timed against does something else
        r->remark = "A variant is graded on the simulated device alone.";
        return;
    }
    char *arch = text_format("%d%d", gpu.major, gpu.minor);
    setenv("ARCH", arch, 0);
    free(arch);
    r->gpu = gpu_run_new(&gpu);
    few_gpus(r, &gpu);
}

// What the checks found on the simulated device, from a result. Why it cannot be had, or NULL.
static json_t *take_records(const Result *r, const char *path)
{
    json_t *result = json_load_file(path, 0, NULL);
    const char *lesson = json_string_value(json_object_get(result, "lesson"));
    bool good = lesson && strcmp(lesson, r->lesson) == 0
             && json_array_extend(r->records, json_object_get(result, "checks")) == 0;
    json_decref(result);
    return good
             ? NULL
             : fact_new(VERDICT_GRADER_ERROR, text_format("%s is no result of %s", path, r->lesson),
                        NULL, "name the result of this submission on the simulated device");
}

// Compiles the submission, runs the checks, and judges what they recorded.
static void grade(Result *r, const char *root, const Options *o)
{
    result_read_source(r);
    recall(r);
    json_t *refusal = o->simulated ? take_records(r, o->simulated) : NULL;
    if (!refusal) refusal = prepare(r, root, o->define);
    if (refusal) {
        r->gpu = NULL;
        result_refuse(r, refusal);
        return;
    }
    static Profile profile; // the findings point to its claims
    profile = *run_profile();
    if (only_check) profile.claims = 0;
    remove_timelines();
    if (!o->simulated) run_tests(false, r->records);
    result_judge(r, &profile);
    if (!all_right(r->records)) r->gpu = NULL;
    else if (r->gpu) run_on_the_gpu(r, root);
}

int main(int argc, char **argv)
{
    const char *lesson = strdup(basename(argv[0])), *root = root_of(argv[0]);
    if (argc > 1 && versions_use(argv[1])) {
        run_export(lesson, root, "");
        return versions_main(lesson, argc - 1, argv + 1);
    }
    if (argc == 3 && strcmp(argv[1], "--variant") == 0) return variant_main(lesson, root, argv[2]);
    Options options = parse(argc, argv);
    if (!variant_is_there(lesson, root)) return 2;
    int number = atoi(lesson);
    if (only_check) look_for_check(argv[0]);

    process_adopt();
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1); // a cluster's nodes may share the folder
    char *stale = text_format("%s/build/run/*@%s.*", root, host);
    char *folder = text_format("%s/build/run/%s@%s.%d", root, lesson, host, getpid());
    remove_stale(stale, '.', true);
    // Criterion names its socket by its process, and the memory that it shares with a check by the
    // check's.
    remove_stale("/tmp/criterion_*.sock", '_', false);
    remove_stale("/dev/shm/bxf*_*", '_', false);
    if (!make_folder(folder)) {
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
        return 2;
    }
    run_export(lesson, root, folder);
    run_set_result(options.result ? options.result : result_path(lesson, options.submission, root));

    const char *device = getenv("PROFILE");
    Result r = {
        .lesson = lesson,
        .submission = options.submission,
        .seed = run_seed(),
        .device = device && *device ? device : "h200",
        .records = json_array(),
        .climb = CLIMB_NONE,
        .again = again_command(argv[0], options.submission, number),
        .forward = next_lesson(root, number),
    };
    find_gpu(&r);
    grade(&r, root, &options);
    folder_remove(folder);
    keep_private();
    bool written = write_result(&r);
    result_print(&r, stdout);
    fflush(stdout);
    return r.verdict == VERDICT_PASS && written ? 0 : 1;
}
