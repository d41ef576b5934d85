// Runs the rows' kernels and compares every lane of every variant with the data.
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef struct {
    uint64_t word[LANES][SLOT_WORDS];
} Input;
typedef struct {
    uint64_t word[VARIANTS][LANES][RESULT_WORDS];
} Output;

static const char *const variant_name[] = { "in all lanes", "behind a predicate",
                                            "after a divergent branch", "with 64-bit registers",
                                            "with immediate operands" };

static uint64_t low(uint64_t bits, int count)
{
    return count == 64 ? bits : bits & ((1ull << count) - 1);
}

static bool is_signed(enum type type)
{
    return type == s8 || type == s16 || type == s32 || type == s64;
}

// Lanes beyond the last case take the cases again from the first.
static const Case *case_of(const Row *row, int lane) { return &row->cases[lane % row->count]; }

// A result as its register holds it: extended where that is wider.
static uint64_t in_register(const Row *row, enum variant variant, uint64_t value)
{
    enum type type = row->type[0];
    int unused = 64 - type_bits(type);
    if (is_signed(type)) value = (uint64_t)((int64_t)(value << unused) >> unused);
    return type == pred ? value : low(value, kernel_register_bits(row, variant, 0));
}

// What the destination holds before: never the answer.
static uint64_t old_value(const Row *row, const Case *c, int output)
{
    if (row->type[0] == pred) return !c->out[output];
    return ~in_register(row, WHOLE, c->out[output]);
}

// The bits above an operand's own are rubbish, so that a row that looks at them is found.
static void fill(const Row *row, Input *in)
{
    for (int lane = 0; lane < LANES; lane++) {
        const Case *c = case_of(row, lane);
        for (int n = 0; n < row->inputs; n++) {
            int bits = type_bits(row->type[n + 1]);
            uint64_t rubbish =
                bits < 64 && row->type[n + 1] != pred ? 0xa5a5a5a5a5a5a5a5 << bits : 0;
            in->word[lane][n] = c->in[n] | rubbish;
        }
        for (int n = 0; n < row->outputs; n++) in->word[lane][3 + n] = old_value(row, c, n);
    }
}

static void describe_case(const Row *row, const Case *c, char *text, size_t size)
{
    size_t length = 0;
    for (int n = 0; n < row->inputs && length < size; n++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", n ? ", " : "",
                                   value_text(c->in[n], row->type[n + 1]));
}

static void compare_value(Row *row, enum variant variant, int lane, int output, uint64_t got)
{
    const Case *c = case_of(row, lane);
    bool partial = variant == GUARDED || variant == BRANCHED;
    bool takes_part = !partial || (unsigned)SOME_LANES >> lane & 1;
    int bits = row->type[0] == pred ? 32 : kernel_register_bits(row, variant, 0);
    uint64_t due = takes_part ? in_register(row, variant, c->out[output])
                              : low(old_value(row, c, output), bits);
    got = low(got, bits);
    if (takes_part ? value_agrees(row, got, due, row->type[0]) : got == due) return;
    char inputs[160];
    describe_case(row, c, inputs, sizeof inputs);
    enum type type = bits == type_bits(row->type[0]) ? row->type[0] : u64;
    row_fail(row, "%s, lane %d: %s -> %s%s, not %s", variant_name[variant], lane, inputs,
             value_text(got, type), takes_part ? "" : " in a lane that takes no part",
             value_text(due, type));
}

static void compare(Row *row, const Output *out)
{
    for (enum variant variant = WHOLE; variant < VARIANTS; variant++) {
        int lanes = variant == IMMEDIATE ? row->count : LANES;
        for (int lane = 0; lane < lanes && kernel_has(row, variant); lane++) {
            if (variant == IMMEDIATE && !kernel_has_immediate(row, lane)) continue;
            for (int n = 0; n < row->outputs; n++)
                compare_value(row, variant, lane, n, out->word[variant][lane][n]);
        }
    }
}

static char *module_text(const Row *row)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    kernel_header(to);
    kernel_write(to, row);
    fclose(to);
    return text;
}

static cudaError_t launch(const Row *row, const char *text, void *in, void *out)
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaError_t error = cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0);
    if (error) return error;
    error = cudaLibraryGetKernel(&kernel, library, row->name);
    void *arguments[] = { &in, &out };
    if (!error)
        error = cudaLaunchKernel((void *)kernel, (dim3){ 1, 1, 1 }, (dim3){ LANES, 1, 1 },
                                 arguments, 0, NULL);
    if (!error) error = cudaDeviceSynchronize();
    cudaLibraryUnload(library);
    return error;
}

static void run_row(Row *row, void *device_in, void *device_out)
{
    static Input in;
    static Output out;
    fill(row, &in);
    memset(&out, 0xcc, sizeof out);
    char *text = module_text(row);
    cudaError_t error = cudaMemcpy(device_in, &in, sizeof in, cudaMemcpyHostToDevice);
    if (!error) error = cudaMemcpy(device_out, &out, sizeof out, cudaMemcpyHostToDevice);
    if (!error) error = launch(row, text, device_in, device_out);
    if (!error) error = cudaMemcpy(&out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    free(text);
    if (error) row_fail(row, "it does not run: %s", cudaGetErrorString(error));
    else compare(row, &out);
    row->ran = true;
}

void alu_run(void *unused)
{
    (void)unused;
    void *in, *out;
    if (cudaMalloc(&in, sizeof(Input)) || cudaMalloc(&out, sizeof(Output))) {
        printf("there is no device: %s\n", cudaGetErrorString(cudaGetLastError()));
        return;
    }
    for (int n = 0; n < row_count; n++)
        if (rows[n].count) run_row(&rows[n], in, out);
    cudaFree(in);
    cudaFree(out);
}
