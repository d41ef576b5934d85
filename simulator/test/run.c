// simulator/run as a command: what its status says, and that nothing outlives it.
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs the device with these arguments, and what a shell makes of the rest.
static int run(const char *arguments, const char *rest)
{
    char *command = NULL;
    const char *device = getenv("DEVICE");
    asprintf(&command, "%s %s %s", device ? device : "simulator/run", arguments, rest);
    int status = system(command);
    free(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int device_status(const char *arguments)
{
    return run(arguments, ">/dev/null 2>&1 </dev/null");
}

Test(run, what_cannot_be_run_is_said_by_status)
{
    cr_expect_eq(device_status("build/no-such-program"), 127);
    cr_expect_eq(device_status("./simulator"), 126);
    cr_expect_eq(device_status(""), 2);
    cr_expect_eq(device_status("--limit lots true"), 2);
    cr_expect_eq(device_status("false"), 1);
    cr_expect_eq(device_status("sh -c 'exit 9'"), 9);
    cr_expect_eq(device_status("sh -c 'kill -9 $$'"), 137);
}

Test(run, timeline_that_cannot_be_written_is_said)
{
    cr_expect_eq(run("--timeline build/no-such-folder/t.json false",
                     "2>&1 | grep -qx 'simulator/run: "
                     "cannot write build/no-such-folder/t.json: No such file or directory'"),
                 0);
    cr_expect_eq(device_status("--timeline build/no-such-folder/t.json false"), 1);
}

Test(run, unknown_option_is_named)
{
    cr_expect_eq(run("--no-such-option false",
                     "2>&1 | tr '\\n' ' ' | grep -qx \"simulator/run: unrecognized "
                     "option '--no-such-option' Type: simulator/run --help \""),
                 0);
    cr_expect_eq(device_status("--no-such-option false"), 2);
    cr_expect_eq(run("--help", "| awk 'length > 80 { long = 1 } END { exit long || NR < 20 }'"), 0);
}

// ---- What was found ----

// Its arguments: how many allocations it leaves, each on a line of its own; its exit status; what
// it prints.
static const char leaves[] = "#include <cuda_runtime_api.h>\n"
                             "#include <stdio.h>\n"
                             "#include <stdlib.h>\n"
                             "static void leave(void) { void *p; cudaMalloc(&p, 4); }\n"
                             "static void leave_another(void) { void *p; cudaMalloc(&p, 4); }\n"
                             "int main(int count, char **words)\n"
                             "{\n"
                             "    if (words[1][0] > '0') leave();\n"
                             "    if (words[1][0] > '1') leave_another();\n"
                             "    if (count > 3) puts(words[3]);\n"
                             "    return atoi(words[2]);\n"
                             "}\n";

static char program[] = "/tmp/warpwise-leaves-XXXXXX", logged[64];

static void compile(void)
{
    char *command = NULL;
    close(mkstemp(program));
    snprintf(logged, sizeof logged, "%s.log", program);
    asprintf(&command,
             "gcc -g -x c - -isystem $CUDA_HOME/include -L$CUDA_HOME/lib64 -lcudart -o %s",
             program);
    FILE *to = popen(command, "w");
    fputs(leaves, to);
    cr_assert_eq(pclose(to), 0);
    free(command);
}

static void remove_all(void)
{
    unlink(program);
    unlink(logged);
}

// The status of what a shell makes of a run of it.
static int left(const char *options, const char *arguments, const char *rest)
{
    char words[256];
    snprintf(words, sizeof words, "%s %s %s", options, program, arguments);
    return run(words, rest);
}

Test(run, status_says_that_something_was_found, .init = compile, .fini = remove_all)
{
    const char *nowhere = ">/dev/null 2>&1";
    cr_expect_eq(left("", "0 0", nowhere), 0);
    cr_expect_eq(left("", "1 0", nowhere), 1);
    cr_expect_eq(left("", "1 7", nowhere), 7, "the program's own status comes first");
    cr_expect_eq(left("--error-exitcode 42", "1 0", nowhere), 42);
    cr_expect_eq(left("--error-exitcode 42", "0 0", nowhere), 0);
    cr_expect_eq(left("--error-exitcode 0", "1 0", nowhere), 0);
    cr_expect_eq(left("--json", "1 0", nowhere), 1);
    cr_expect_eq(left("--error-exitcode 256", "1 0", nowhere), 2);
    // In a process of its own, too.
    char words[256];
    snprintf(words, sizeof words, "sh -c '%s 1 0; true'", program);
    cr_expect_eq(device_status(words), 1);
}

Test(run, summary_counts_by_kind, .init = compile, .fini = remove_all)
{
    cr_expect_eq(left("", "0 0", "2>&1 | grep -q ."), 1, "a clean program: not a word");
    cr_expect_eq(left("", "1 0", "2>&1 | tail -n 1 | grep -qx 'warpwise: 1 error: leak'"), 0);
    cr_expect_eq(left("", "2 0", "2>&1 | tail -n 1 | grep -qx 'warpwise: 2 errors: leak (2)'"), 0);
}

Test(run, colours_are_for_terminals, .init = compile, .fini = remove_all)
{
    char rest[512];
    const char *script = "TERM=xterm %s script -qec 'simulator/run %s 1 0' /dev/null </dev/null "
                         "2>&1 | grep -q \"$(printf '\\033')\"";
    cr_expect_neq(left("", "1 0", "2>&1 | grep -q \"$(printf '\\033')\""), 0);
    snprintf(rest, sizeof rest, script, "", program);
    cr_expect_eq(system(rest), 0);
    snprintf(rest, sizeof rest, script, "NO_COLOR=1", program);
    cr_expect_neq(system(rest), 0);
}

Test(run, launches_that_cannot_be_are_refused)
{
    const char *bad[] = { "--kernel '('",  "--launches 0",  "--launches 3-2",
                          "--launches 1x", "--launches 3-", "--launches -3" };
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        char words[64];
        snprintf(words, sizeof words, "%s true", bad[n]);
        cr_expect_eq(device_status(words), 2, "%s", bad[n]);
    }
    cr_expect_eq(device_status("--kernel '^a(b|c)' --launches 2-2 false"), 1);
}

Test(run, log_file_has_all_but_the_programs_own, .init = compile, .fini = remove_all)
{
    char options[128], rest[256];
    snprintf(options, sizeof options, "--log-file %s", logged);
    snprintf(rest, sizeof rest, "2>&1 | grep -qx own && grep -q '^warpwise: 1 error' %s", logged);
    cr_expect_eq(left(options, "1 0 own", rest), 0);
    cr_expect_eq(left(options, "1 0 own", "2>&1 | [ $(wc -l) = 1 ]"), 0);
    snprintf(options, sizeof options, "--json --log-file %s", logged);
    snprintf(rest, sizeof rest, ">/dev/null 2>&1; tail -n 1 %s | grep -q '^{.event.: *.exit.'",
             logged);
    cr_expect_eq(left(options, "1 0", rest), 0);
    cr_expect_eq(left("--log-file build/no-such-folder/log", "1 0", ">/dev/null 2>&1"), 2);
}

// The program writes its pid and sleeps; when the device is killed it must die as well.
Test(run, program_dies_with_the_device)
{
    int out[2], program = 0;
    char text[32] = "";
    const char *run = getenv("DEVICE") ? getenv("DEVICE") : "simulator/run";
    cr_assert_eq(pipe(out), 0);
    pid_t device = fork();
    if (device == 0) {
        dup2(out[1], 1);
        execl(run, run, "sh", "-c", "echo $$; exec sleep 90", NULL);
        _exit(126);
    }
    close(out[1]);
    cr_assert_gt(read(out[0], text, sizeof text - 1), 0);
    cr_assert_eq(sscanf(text, "%d", &program), 1);
    cr_assert_eq(kill(program, 0), 0, "the program does not run");
    cr_assert_eq(kill(device, SIGKILL), 0);
    waitpid(device, NULL, 0);
    bool gone = false;
    for (int i = 0; i < 1200 && !gone; i++) {
        char path[64], state = 'Z';
        snprintf(path, sizeof path, "/proc/%d/stat", program);
        FILE *file = fopen(path, "r");
        gone = !file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z';
        if (file) fclose(file);
        usleep(50000);
    }
    if (!gone) kill(program, SIGKILL);
    cr_expect(gone, "the program outlived its device");
}

// The real library and ours must export the same names, under the same version. Ours has some of
// the C library's besides (client/io.c), under that library's.
Test(run, every_symbol_is_there)
{
    cr_expect_eq(system("bash -c 'names() { nm -D --defined-only $1 | cut -d\" \" -f3 | grep -v "
                        "GLIBC_ | sort; }; "
                        "test $(names $CUDA_HOME/lib64/libcudart.so.13 | wc -l) -gt 400 && "
                        "diff <(names $CUDA_HOME/lib64/libcudart.so.13) "
                        "<(names ${LIBRARY:-build/simulator/lib}/libcudart.so.13)'"),
                 0);
}
