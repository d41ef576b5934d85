// Compiling a submission: nvcc in a process group of its own and under a clock,
// since templates and #include can keep a compiler busy for ever. What it refuses in the sandbox is
// the submission's fault only if it compiles anything there: so it is given an empty file then.
#define _GNU_SOURCE
#include "compile.h"
#include "confine.h"
#include "process.h"
#include "record.h"
#include "run.h"
#include "sandbox/ends.h"
#include "text.h"
#include "verdict.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

// Does a line begin as a verdict does? A file can make the compiler say so: #line names any file.
static bool is_like_a_verdict(const char *line)
{
    for (int v = 0; v < VERDICT_COUNT; v++) {
        size_t n = strlen(verdict_word(v));
        if (strncmp(line, verdict_word(v), n) == 0) return true;
    }
    return false;
}

// Why the compiler, or a part of it, has come to no end, by its own words. (A file can have it say
// them, which changes nothing but ours.)
typedef struct Complaint {
    bool killed, starved; // by a signal that nothing can catch; refused memory
} Complaint;

static bool has_one_of(const char *line, const char *const *words)
{
    for (; *words; words++)
        if (strstr(line, *words)) return true;
    return false;
}

static void note(Complaint *c, const char *line)
{
    static const char *const killed[] = { "died due to signal 9",
                                          "Killed signal terminated program", NULL };
    static const char *const starved[] = {
        "out of memory allocating",     "catastrophic error: out of memory",
        "LLVM ERROR: out of memory",    "virtual memory exhausted",
        "instance of 'std::bad_alloc'", NULL
    };
    c->killed = c->killed || has_one_of(line, killed);
    c->starved = c->starved || has_one_of(line, starved);
}

// gcc and nvcc name files of their own by chance and by their process, which is another name in
// each run. Makes it the pattern that it was made from.
static void make_pattern(char *name)
{
    static const char *const patterns[] = { "ccXXXXXX", "tmpxft_XXXXXXXX_XXXXXXXX" };
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        size_t n = 0;
        const char *pattern = patterns[p];
        while (pattern[n] == 'X' ? isalnum((unsigned char)name[n])
                                 : pattern[n] && pattern[n] == name[n])
            n++;
        if (!pattern[n]) memcpy(name, pattern, n);
    }
}

// Takes a folder's path out of a line, wherever it stands before a file's name.
static void leave_out(char *line, const char *folder, bool is_compilers)
{
    size_t n = strlen(folder);
    for (char *at = line; n && (at = strstr(at, folder));)
        if (at[n] == '/') {
            memmove(at, at + n + 1, strlen(at + n));
            if (is_compilers) make_pattern(at);
        } else at += n;
}

// Says what the compiler has said, cleaned of what a file could have a terminal do (#error quotes
// the file), and cut where it has no end. Files are called as from the folders, wherever these are:
// the compiler's own, which is the first, the student's and the project's.
static Complaint say(int file, const char *const *folders)
{
    enum { MOST_LINES = 200 };
    Complaint c = { 0 };
    char *line = NULL;
    size_t room = 0, lines = 0;
    lseek(file, 0, SEEK_SET);
    FILE *f = fdopen(file, "r");
    while (f && getline(&line, &room, f) >= 0) {
        line[strcspn(line, "\n")] = 0;
        note(&c, line);
        for (const char *const *folder = folders; *folder; folder++)
            leave_out(line, *folder, folder == folders);
        char *clean = text_clean(line);
        if (lines++ < MOST_LINES)
            fprintf(stderr, "%s%s\n", is_like_a_verdict(clean) ? "  " : "", clean);
        free(clean);
    }
    if (lines > MOST_LINES) fprintf(stderr, "... and %zu lines more\n", lines - MOST_LINES);
    free(line);
    if (f) fclose(f);
    return c;
}

enum { OUR_WORDS = 32 };

const char *compile_list(const char *worker) { return text_format("%s.files", worker); }

// The compiler's command, behind the sandbox's words.
static void command(const char **argv, size_t n, const char *root, const char *compiler,
                    const char *source, const char *worker, const char *const *more)
{
    const char *arch = setting("ARCH", "90");
    const char *words[OUR_WORDS] = {
        compiler,
        "-std=c++17",
        "-O2",
        // The place of a launch that is a function's last call is found only while that function is
        // not left.
        "-Xcompiler",
        "-g1,-fno-optimize-sibling-calls",
        "-lineinfo",
        "-cudart",
        "shared",
        "-gencode",
        text_format("arch=compute_%s,code=[compute_%s,sm_%s]", arch, arch, arch),
        "-I",
        text_format("%s/grader/lessons", root),
        source,
        run_harness(),
        "-L",
        text_format("%s/build/lib", root), // of a bundle: libffi
        "-lffi",
        "-Xlinker",
        "--export-dynamic",
        "-o",
        worker,
        "-MD", // which files it reads, without another pass over them
        "-MF",
        compile_list(worker),
    };
    for (const char **word = words; *word; word++) argv[n++] = *word;
    for (size_t i = 0; more && i < COMPILE_MORE && more[i]; i++) argv[n++] = more[i];
    argv[n] = NULL;
}

// What a run of the compiler's has come to. ended: in time.
typedef struct Run {
    bool started, ended;
    int status;
    int said; // a file with its messages
} Run;

static Run run_compiler(const char *const *argv, const char *folder, bool confined)
{
    const char *environment[] = { text_format("TMPDIR=%s", folder), NULL };
    Run r = { .said = memfd_create("messages", MFD_CLOEXEC) };
    Spawn spawn = { .argv = argv,
                    .environment = environment,
                    .from = { r.said, r.said },
                    .to = { 1, 2 },
                    .descriptors = 2,
                    .trusted = confined };
    pid_t pid = process_start(&spawn);
    r.started = pid >= 0;
    r.ended = r.started && process_wait(pid, COMPILE_SECONDS, &r.status);
    process_sweep();
    return r;
}

// How many processes the kernel has killed on this machine for want of memory.
static unsigned long long kills(void)
{
    char line[128];
    unsigned long long count = 0;
    FILE *f = fopen("/proc/vmstat", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "oom_kill %llu", &count) == 1) break;
    if (f) fclose(f);
    return count;
}

static char first_line[256]; // of what is said of an empty file

// Does the compiler, in the sandbox, make a program of an empty file?
static bool compiles_empty(const char *root, const char *folder, const char *compiler)
{
    const char *argv[CONFINE_WORDS + OUR_WORDS + COMPILE_MORE];
    char *source = text_format("%s/empty.cu", folder), *made = text_format("%s/empty", folder);
    unlink(source);
    int file = open(source, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file >= 0) close(file);
    command(argv, confine_compiler(argv, root, compiler, source, folder), root, compiler, source,
            made, NULL);
    Run r = run_compiler(argv, folder, true);
    ssize_t n = pread(r.said, first_line, sizeof first_line - 1, 0);
    first_line[n > 0 ? n : 0] = 0;
    first_line[strcspn(first_line, "\n")] = 0;
    close(r.said);
    return WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0;
}

// Why there is no program.
static enum compiled why_none(const Run *r, Complaint c, bool confined,
                              unsigned long long kills_before)
{
    int status = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 128 + WTERMSIG(r->status);
    if (confined && status == SANDBOX_FAILED) return COMPILE_NO_SANDBOX;
    if (confined && status == SANDBOX_MACHINE_MEMORY) return COMPILE_NO_MEMORY;
    if (confined && (status == SANDBOX_LIMIT_MEMORY || c.starved)) return COMPILE_STARVED;
    bool killed = c.killed || status == 128 + SIGKILL;
    if (c.starved || (killed && kills() > kills_before)) return COMPILE_NO_MEMORY;
    return COMPILE_REFUSED;
}

enum compiled compile_program(const char *root, const char *folder, const char *name,
                              const char *source, const char *const *more, bool ours)
{
    const char *argv[CONFINE_WORDS + OUR_WORDS + COMPILE_MORE], *called = setting("NVCC", "nvcc");
    char *worker = text_format("%s/%s", folder, name), *found = confine_find(called);
    const char *compiler = found ? found : called;
    if (access(run_harness(), R_OK) != 0) return COMPILE_NO_HARNESS;
    size_t before = ours ? 0 : confine_compiler(argv, root, compiler, source, folder);
    bool confined = before > 0;
    unsigned long long kills_before = kills();
    command(argv, before, root, compiler, source, worker, more);
    Run r = run_compiler(argv, folder, confined);
    if (!r.started) return confined ? COMPILE_NO_SANDBOX : COMPILE_NO_COMPILER;
    char here[PATH_MAX] = "";
    const char *folders[] = { folder, getcwd(here, sizeof here) ? here : "", root, NULL };
    Complaint c = say(r.said, folders);
    if (!r.ended) return COMPILE_LATE;
    if (WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0 && access(worker, X_OK) == 0)
        return COMPILED;
    enum compiled end = why_none(&r, c, confined, kills_before);
    return end == COMPILE_REFUSED && confined && !compiles_empty(root, folder, compiler)
             ? COMPILE_NO_SANDBOX
             : end;
}

static json_t *sandbox_refusal(void)
{
    const char *said = text_clean(first_line),
               *says = *said ? text_format("In the sandbox the compiler refuses even an empty "
                                           "file. It says: %s",
                                           said)
                             : "The sandbox did not start the compiler; what it says is above.";
    return fact_new(VERDICT_GRADER_ERROR, says,
                    "It sees CUDA_HOME, nvcc's own folder, NVCC_CCBIN and /usr, and no more of "
                    "this machine.",
                    "install what it lacks in one of these; then type: make doctor");
}

json_t *compile_refusal(enum compiled end)
{
    switch (end) {
    case COMPILE_LATE:
        return fact_new(VERDICT_BUILD, "the compiler was stopped after a minute", NULL, NULL);
    case COMPILE_STARVED:
        return fact_new(
            VERDICT_BUILD,
            "The compiler needs more memory for this file than it has in the sandbox.",
            "Large tables, deep templates and loops that are unrolled far cost it most.",
            "make what the compiler has to unfold smaller");
    case COMPILE_NO_COMPILER:
        return fact_new(VERDICT_NODEVICE,
                        text_format("nvcc cannot be started: %s", strerror(errno)), NULL,
                        "make doctor");
    case COMPILE_NO_HARNESS:
        return fact_new(VERDICT_GRADER_ERROR, text_format("%s is missing", run_harness()), NULL,
                        "make lesson-1, which builds it");
    case COMPILE_NO_SANDBOX: return sandbox_refusal();
    case COMPILE_NO_MEMORY:
        return fact_new(VERDICT_GRADER_ERROR,
                        "The compiler was killed, because this machine has no more memory.", NULL,
                        "free some memory, and type the same again");
    default:
        return fact_new(VERDICT_BUILD, "The compiler refuses the file; its messages are above.",
                        NULL, "fix the first error; later ones may follow from it");
    }
}
