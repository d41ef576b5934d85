// Compiling a submission: nvcc in a process group of its own and under a clock,
// since templates and #include can keep a compiler busy for ever.
#define _GNU_SOURCE
#include "compile.h"
#include "confine.h"
#include "process.h"
#include "run.h"
#include "text.h"
#include "verdict.h"
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

// Says what the compiler has said, cleaned of what a file could have a terminal do (#error quotes
// the file), and cut where it has no end.
static void say(int file)
{
    enum { MOST_LINES = 200 };
    char *line = NULL;
    size_t room = 0, lines = 0;
    lseek(file, 0, SEEK_SET);
    FILE *f = fdopen(file, "r");
    while (f && getline(&line, &room, f) >= 0) {
        line[strcspn(line, "\n")] = 0;
        char *clean = text_clean(line);
        if (lines++ < MOST_LINES)
            fprintf(stderr, "%s%s\n", is_like_a_verdict(clean) ? "  " : "", clean);
        free(clean);
    }
    if (lines > MOST_LINES) fprintf(stderr, "... and %zu lines more\n", lines - MOST_LINES);
    free(line);
    if (f) fclose(f);
}

enum { OUR_WORDS = 32 };

const char *compile_list(const char *worker) { return text_format("%s.files", worker); }

// The compiler's command, behind the sandbox's words.
static void command(const char **argv, size_t n, const char *root, const char *source,
                    const char *worker, const char *const *more)
{
    const char *arch = setting("ARCH", "90");
    const char *words[OUR_WORDS] = {
        setting("NVCC", "nvcc"),
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

// The compiler's process, with its end in *status. COMPILED: it has ended.
static enum compiled run_compiler(const char *const *argv, const char *folder, bool confined,
                                  int *status)
{
    const char *environment[] = { text_format("TMPDIR=%s", folder), NULL };
    int said = memfd_create("messages", MFD_CLOEXEC);
    Spawn spawn = { .argv = argv,
                    .environment = environment,
                    .from = { said, said },
                    .to = { 1, 2 },
                    .descriptors = 2,
                    .trusted = confined };
    pid_t pid = process_start(&spawn);
    if (pid < 0) return COMPILE_NO_COMPILER;
    bool ended = process_wait(pid, COMPILE_SECONDS, status);
    process_sweep();
    say(said);
    return ended ? COMPILED : COMPILE_LATE;
}

enum compiled compile_program(const char *root, const char *folder, const char *name,
                              const char *source, const char *const *more, bool ours)
{
    const char *argv[CONFINE_WORDS + OUR_WORDS + COMPILE_MORE];
    char *worker = text_format("%s/%s", folder, name);
    if (access(run_harness(), R_OK) != 0) return COMPILE_NO_HARNESS;
    size_t before = ours ? 0 : confine_compiler(argv, root, source, folder);
    command(argv, before, root, source, worker, more);
    int status = 0;
    enum compiled end = run_compiler(argv, folder, before > 0, &status);
    bool made = WIFEXITED(status) && WEXITSTATUS(status) == 0 && access(worker, X_OK) == 0;
    return end == COMPILED && !made ? COMPILE_REFUSED : end;
}
