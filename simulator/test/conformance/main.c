// The differential test: runs every form on the device with the same thousands of operands, and
// compares what comes out with what a real GPU gave.
//
//     conformance ANSWERS                 compares; departures.txt beside ANSWERS names the forms
//                                         that are to differ
//     conformance ANSWERS --record NOTE   writes the answers, NOTE at their head
//     conformance ANSWERS --print FORM    prints a form's operands and results, to be compared with
//                                         another device's
//
// ANSWERS has a line for each form. Of exact ones it has a hash for each 256 cases, of approximate
// ones the results of 512. With WRONG=FILE comparing writes operands and results of the cases in
// question there, as --print does.
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"

enum { BATCH = 64, THREADS = 256, KEPT = 512, LINE_ROOM = 1 << 16 };

typedef struct {
    uint64_t in[CASES][MOST_IN], out[CASES][2 * MOST_OUT];
} Run;

static Run run;
static void *device_in, *device_out;
static cudaLibrary_t library;
static int passed, failed;
static FILE *wrong;

static void need(cudaError_t error, const char *what)
{
    if (!error) return;
    fprintf(stderr, "conformance: %s: %s\n", what, cudaGetErrorString(error));
    exit(2);
}

// ---- running ----

static void load_batch(int first)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    fputs(".version 8.6\n.target sm_90\n.address_size 64\n\n", to);
    for (int n = first; n < first + BATCH && n < form_count; n++) form_write(to, &forms[n], n);
    fclose(to);
    if (library) cudaLibraryUnload(library);
    cudaError_t error = cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0);
    if (error) fputs(text, stderr);
    need(error, "the forms' PTX");
    free(text);
}

static void run_form(int number)
{
    static int batch = -1;
    const Form *f = &forms[number];
    if (number / BATCH != batch) load_batch((batch = number / BATCH) * BATCH);
    char name[16];
    snprintf(name, sizeof name, "k%d", number);
    cudaKernel_t kernel;
    need(cudaLibraryGetKernel(&kernel, library, name), f->name);
    inputs_make(f, run.in);
    need(cudaMemcpy(device_in, run.in, sizeof run.in, cudaMemcpyHostToDevice), f->name);
    need(cudaMemset(device_out, 0, sizeof run.out), f->name);
    void *arguments[] = { &device_in, &device_out };
    need(cudaLaunchKernel((void *)kernel, (dim3){ CASES / THREADS, 1, 1 }, (dim3){ THREADS, 1, 1 },
                          arguments, 0, NULL),
         f->name);
    need(cudaMemcpy(run.out, device_out, sizeof run.out, cudaMemcpyDeviceToHost), f->name);
}

// ---- answers ----

static uint32_t hash_chunk(const Form *f, int chunk)
{
    uint64_t h = 1469598103934665603u;
    for (int c = chunk * (CASES / CHUNKS); c < (chunk + 1) * (CASES / CHUNKS); c++)
        for (int n = 0; n < f->out_count; n++)
            h = (h ^ run.out[c][n]) * 1099511628211u, h ^= h >> 29;
    return (uint32_t)(h ^ h >> 32);
}

// The case that is kept as number n: a few of the edges, then random ones.
static int kept_case(int n) { return n < 128 ? n * 8 + n * 5 % 8 : 1024 + (n - 128) * 8; }

static void record_form(FILE *to, const Form *f)
{
    fprintf(to, "%s:", f->name);
    if (f->approximate)
        for (int n = 0; n < KEPT; n++)
            fprintf(to, " %llx", (unsigned long long)run.out[kept_case(n)][0]);
    else
        for (int n = 0; n < CHUNKS; n++) fprintf(to, " %08x", hash_chunk(f, n));
    putc('\n', to);
}

static void print_case(FILE *to, const Form *f, int c)
{
    fprintf(to, "%s #%d:", f->name, c);
    for (int n = 0; n < f->in_count; n++) fprintf(to, " %llx", (unsigned long long)run.in[c][n]);
    fputs(" ->", to);
    for (int n = 0; n < f->out_count; n++) fprintf(to, " %llx", (unsigned long long)run.out[c][n]);
    putc('\n', to);
}

static void fail_form(const Form *f, const char *what, int count)
{
    failed++;
    printf("%s: %d %s\n", f->name, count, what);
}

// The second time: as the first in the lanes that take part, and nothing in the others.
static bool second_is_right(const Form *f)
{
    if (!form_has_second(f)) return true;
    int wrong_lanes = 0;
    for (int c = 0; c < CASES; c++) {
        bool takes_part = (unsigned)SOME_LANES >> c % 32 & 1;
        for (int n = 0; n < f->out_count; n++) {
            uint64_t old = f->out[n] == pred ? 1 : OLD_VALUE;
            wrong_lanes += run.out[c][MOST_OUT + n] != (takes_part ? run.out[c][n] : old);
        }
    }
    if (wrong_lanes)
        fail_form(f, "results are wrong where some lanes alone take part", wrong_lanes);
    return !wrong_lanes;
}

static bool departs[MOST_FORMS];

static void compare_exact(const Form *f, char *rest)
{
    int wrong_chunks = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        char *word = strtok_r(NULL, " \n", &rest);
        if (word && strtoul(word, NULL, 16) == hash_chunk(f, chunk)) continue;
        wrong_chunks++;
        for (int c = chunk * (CASES / CHUNKS); wrong && c < (chunk + 1) * (CASES / CHUNKS); c++)
            print_case(wrong, f, c);
    }
    if (departs[f - forms]) {
        if (wrong_chunks) passed++;
        else
            fail_form(f,
                      "of 16 parts of its results are not the GPU's, but departures.txt says that "
                      "it differs",
                      0);
        return;
    }
    if (wrong_chunks) fail_form(f, "of 16 parts of its results are not the GPU's", wrong_chunks);
    else passed++;
}

// Where the GPU gives infinity or no number, so must the device, to the bit.
static bool special_agrees(const Form *f, uint64_t got, uint64_t due)
{
    if (f->out[0] != f32) return true;
    bool special = (due & 0x7f800000) == 0x7f800000;
    return !special || got == due;
}

static void compare_approximate(const Form *f, char *rest)
{
    int off = 0, gpu_off = 0;
    double error = 0, gpu_error = 0;
    for (int n = 0; n < KEPT; n++) {
        char *word = strtok_r(NULL, " \n", &rest);
        uint64_t due = word ? strtoull(word, NULL, 16) : 0, got = run.out[kept_case(n)][0];
        const uint64_t *in = run.in[kept_case(n)];
        bool good = word && special_agrees(f, got, due) && bound_holds(f, in, got, &error);
        if (!good && wrong) print_case(wrong, f, kept_case(n));
        off += !good;
        gpu_off += !bound_holds(f, in, due, &gpu_error);
    }
    if (getenv("ERRORS"))
        printf("%s: off by %.2f of what is allowed, the GPU by %.2f\n", f->name, error, gpu_error);
    if (gpu_off)
        fail_form(f, "of 512 results of the GPU itself are further off than PTX allows", gpu_off);
    else if (off) fail_form(f, "of 512 results are further off than PTX allows", off);
    else passed++;
}

static int form_named(const char *name)
{
    for (int n = 0; n < form_count; n++)
        if (!strcmp(forms[n].name, name)) return n;
    return -1;
}

static void read_departures(const char *answers)
{
    char path[4096], line[256];
    const char *slash = strrchr(answers, '/');
    snprintf(path, sizeof path, "%.*sdepartures.txt", (int)(slash ? slash - answers + 1 : 0),
             answers);
    FILE *from = fopen(path, "r");
    if (!from) return;
    while (fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = 0;
        int n = form_named(line);
        if (n >= 0) departs[n] = true;
        else if (*line != '#')
            printf("%s: named in %s, but there is no such form\n", line, path), failed++;
    }
    fclose(from);
}

static int compare_all(const char *path)
{
    read_departures(path);
    static char line[LINE_ROOM];
    static bool seen[MOST_FORMS];
    FILE *from = fopen(path, "r");
    if (!from) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof line, from)) {
        char *end = strchr(line, ':');
        if (*line == '#' || !end) continue;
        *end = 0;
        int n = form_named(line);
        if (n < 0) {
            printf("%s: recorded, but the table has no such form\n", line);
            failed++;
            continue;
        }
        seen[n] = true;
        run_form(n);
        if (!second_is_right(&forms[n])) continue;
        if (forms[n].approximate) compare_approximate(&forms[n], end + 1);
        else compare_exact(&forms[n], end + 1);
    }
    fclose(from);
    for (int n = 0; n < form_count; n++)
        if (!seen[n])
            printf("%s: no GPU's answer is recorded; the row needs cases in ../isa until it is\n",
                   forms[n].name);
    if (failed)
        puts("See a form's results: sh simulator/test/conformance.sh --print 'FORM', here and with "
             "DEVICE=gpu");
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

static int record_all(const char *path, const char *note)
{
    FILE *to = fopen(path, "w");
    if (!to) {
        perror(path);
        return 2;
    }
    fprintf(to, "# What a real GPU gave in the differential test (main.c): %s\n", note);
    for (int n = 0; n < form_count; n++) run_form(n), record_form(to, &forms[n]);
    return fclose(to) != 0;
}

static int print_form(const char *name)
{
    int n = form_named(name);
    if (n < 0) {
        printf("There is no form %s. Those that begin so:\n", name);
        for (n = 0; n < form_count; n++)
            if (!strncmp(forms[n].name, name, strlen(name))) puts(forms[n].name);
        return 1;
    }
    run_form(n);
    for (int c = 0; c < CASES; c++) print_case(stdout, &forms[n], c);
    return 0;
}

int main(int count, char **words)
{
    if (count < 2)
        return fprintf(stderr, "usage: %s ANSWERS [--record NOTE | --print FORM]\n", words[0]), 2;
    forms_make();
    need(cudaMalloc(&device_in, sizeof run.in), "memory for operands");
    need(cudaMalloc(&device_out, sizeof run.out), "memory for results");
    if (getenv("WRONG")) wrong = fopen(getenv("WRONG"), "w");
    int status = count == 4 && !strcmp(words[2], "--record") ? record_all(words[1], words[3])
               : count == 4 && !strcmp(words[2], "--print")  ? print_form(words[3])
                                                             : compare_all(words[1]);
    cudaFree(device_in);
    cudaFree(device_out);
    return status;
}
