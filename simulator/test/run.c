// simulator/run as a command: what its status says, and that nothing outlives it.
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int device_status(const char *arguments)
{
    char *command = NULL;
    const char *device = getenv("DEVICE");
    asprintf(&command, "%s %s >/dev/null 2>&1 </dev/null", device ? device : "simulator/run",
             arguments);
    int status = system(command);
    free(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
    char *command = NULL;
    const char *device = getenv("DEVICE");
    asprintf(
        &command,
        "%s --timeline build/no-such-folder/t.json false 2>&1 | "
        "grep -qx 'simulator: cannot write build/no-such-folder/t.json: No such file or directory'",
        device ? device : "simulator/run");
    cr_expect_eq(system(command), 0);
    free(command);
    cr_expect_eq(device_status("--timeline build/no-such-folder/t.json false"), 1);
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

// The real library and ours must export the same names, under the same version.
Test(run, every_symbol_is_there)
{
    cr_expect_eq(system("bash -c 'names() { nm -D --defined-only $1 | cut -d\" \" -f3 | sort; }; "
                        "test $(names $CUDA_HOME/lib64/libcudart.so.13 | wc -l) -gt 400 && "
                        "diff <(names $CUDA_HOME/lib64/libcudart.so.13) "
                        "<(names ${LIBRARY:-build/simulator/lib}/libcudart.so.13)'"),
                 0);
}
