// The run's facts, in the environment from main() to the checks.
#define _GNU_SOURCE
#include "run.h"
#include "text.h"
#include <stdlib.h>
#include <unistd.h>

void run_export(const char *lesson, const char *root, const char *folder)
{
    setenv("WARPWISE_LESSON", lesson, 1);
    setenv("WARPWISE_ROOT", root, 1);
    setenv("WARPWISE_RUN", folder, 1);
}

static const char *exported(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

const char *run_lesson(void) { return exported("WARPWISE_LESSON"); }
const char *run_folder(void) { return exported("WARPWISE_RUN"); }

const char *run_worker(void)
{
    static char *path;
    if (!path)
        path = text_format("%s/worker", run_folder());
    return path;
}

const char *run_device(void)
{
    static char *simulator;
    const char *device = getenv("DEVICE");
    if (device)
        return device;
    if (!simulator)
        simulator = text_format("%s/simulator/run", exported("WARPWISE_ROOT"));
    return simulator;
}

const char *run_seed(void)
{
    const char *seed = getenv("SEED");
    return seed && *seed ? seed : "warpwise";
}

static Profile profile;
static const char *profile_problem;

static void read_profile(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    char *path = text_format("%s/profiles/lessons/%s.cfg", exported("WARPWISE_ROOT"), run_lesson());
    profile = (Profile){.instructions = 100000000, .seconds = 20};
    if (access(path, F_OK) == 0)
        profile_problem = profile_read(path, &profile);
    free(path);
}

const Profile *run_profile(void)
{
    read_profile();
    return &profile;
}

const char *run_profile_problem(void)
{
    read_profile();
    return profile_problem;
}
