// Compiling a submission: nvcc in a process group of its own and under a clock,
// since templates and #include can keep a compiler busy for ever.
#define _GNU_SOURCE
#include "compile.h"
#include "process.h"
#include "text.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

enum compiled compile_program(const char *root, const char *folder, const char *name,
                              const char *source, const char *const *more)
{
    const char *arch = setting("ARCH", "90");
    char *harness = text_format("%s/build/grader/worker.o", root);
    char *lessons = text_format("%s/grader/lessons", root);
    char *libraries = text_format("%s/build/lib", root); // of a bundle: libffi
    char *worker = text_format("%s/%s", folder, name);
    char *code = text_format("arch=compute_%s,code=[compute_%s,sm_%s]", arch, arch, arch);
    char *temporary = text_format("TMPDIR=%s", folder);
    if (access(harness, R_OK) != 0) return COMPILE_NO_HARNESS;

    // The place of a launch that is a function's last call is found only while that function is not
    // left.
    const char *argv[32 + COMPILE_MORE] = { setting("NVCC", "nvcc"),
                                            "-std=c++17",
                                            "-O2",
                                            "-Xcompiler",
                                            "-g1,-fno-optimize-sibling-calls",
                                            "-lineinfo",
                                            "-cudart",
                                            "shared",
                                            "-gencode",
                                            code,
                                            "-I",
                                            lessons,
                                            source,
                                            harness,
                                            "-L",
                                            libraries,
                                            "-lffi",
                                            "-Xlinker",
                                            "--export-dynamic",
                                            "-o",
                                            worker,
                                            NULL };
    for (size_t n = 0, i = 0; more && i < COMPILE_MORE && more[i]; n++)
        if (!argv[n]) argv[n] = more[i++];
    const char *environment[] = { temporary, NULL };
    Spawn spawn = { .argv = argv,
                    .environment = environment,
                    .from = { STDOUT_FILENO, STDERR_FILENO },
                    .to = { 1, 2 },
                    .descriptors = 2 };

    int status;
    pid_t pid = process_start(&spawn);
    if (pid < 0) return COMPILE_NO_COMPILER;
    bool ended = process_wait(pid, COMPILE_SECONDS, &status);
    process_sweep();
    if (!ended) return COMPILE_LATE;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && access(worker, X_OK) == 0
             ? COMPILED
             : COMPILE_REFUSED;
}
