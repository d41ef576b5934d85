// The errors of the predicted times, by what bounds them.
#include "accuracy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const bounds[] = { "memory", "compute", "latency", "atomics" };
enum { BOUNDS = sizeof bounds / sizeof *bounds };

// The kernels that one thing bounds; errors are parts of the GPU's time.
typedef struct Bounded {
    int kernels;
    double half, nine_tenths, worst; // so many of them are off by no more
    const char *worst_kernel;
} Bounded;

static Bounded bounded_by(const Set *set, const char *bound)
{
    Bounded b = { 0 };
    double errors[MOST_KERNELS];
    for (const Kernel *k = set->kernels; k < set->kernels + set->count; k++) {
        if (strcmp(k->bound, bound) != 0) continue;
        double error = errors[b.kernels++] = fabs(time_error(k));
        if (error < b.worst) continue;
        b.worst = error;
        b.worst_kernel = k->name;
    }
    b.half = median(errors, b.kernels);
    if (b.kernels) b.nine_tenths = errors[(int)ceil(0.9 * b.kernels) - 1];
    return b;
}

void errors_on_page(const Set *set, FILE *page)
{
    fputs(
        "## What bounds them\n\nAll kernels, by what the simulated device says their time is bound "
        "by: what is busy for 60 % of it or more, or else\nlatency. `--profile` says these "
        "errors below a predicted time.\n\n"
        "| bound by | kernels | half within | nine in ten within | worst |\n"
        "| --- | ---: | ---: | ---: | --- |\n",
        page);
    for (int n = 0; n < BOUNDS; n++) {
        const Bounded b = bounded_by(set, bounds[n]);
        if (b.kernels)
            fprintf(page, "| %s | %d | %.1f %% | %.1f %% | %.0f %% (%s) |\n", bounds[n], b.kernels,
                    100 * b.half, 100 * b.nine_tenths, 100 * b.worst, b.worst_kernel);
    }
    fputs("\n", page);
}

bool errors_write(const Set *set, const char *to)
{
    char draft[1024];
    snprintf(draft, sizeof draft, "%s.new", to);
    FILE *out = fopen(draft, "we");
    if (!out) return perror(draft), false;
    fputs("// How far predicted times are off, by what bounds them: written by `make accuracy`.\n"
          "//\n"
          "//     ERROR(device, bound, kernels, half within, nine in ten within)    in percent\n",
          out);
    for (int n = 0; n < BOUNDS; n++) {
        const Bounded b = bounded_by(set, bounds[n]);
        if (b.kernels)
            fprintf(out, "ERROR(\"%s\", \"%s\", %d, %.0f, %.0f)\n",
                    json_string_value(json_object_get(set->record, "device")), bounds[n], b.kernels,
                    ceil(100 * b.half), ceil(100 * b.nine_tenths));
    }
    bool good = !ferror(out);
    if (fclose(out) != 0 || !good || rename(draft, to) != 0) return perror(to), false;
    return true;
}
