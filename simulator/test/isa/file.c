// A .ptx file that tests itself: comments at its head say how kernel `test` is launched, and what
// it leaves behind.
//
//     // launch: GRID BLOCK [SHARED]     1 32 unless told
//     // arg TYPE: values                one parameter, after the pointer to the output; several
//                                        values: an array
//     // out TYPE: values                the output, from its first byte on; `_` is a value that
//                                        nobody writes
//     // prints: TEXT                    a line of output
//     // error: NUMBER                   what cudaDeviceSynchronize returns
//
// A value may be 3..9 (each of them) or 7*5 (five times 7). Several lines of a kind follow one
// another.
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

enum { MOST_BYTES = 1 << 16, MOST_ARGUMENTS = 16, POISON = 0xcc, GUARD_BYTES = 64 };

typedef struct {
    dim3 grid, block;
    size_t shared;
    uint8_t out[MOST_BYTES], argument[MOST_ARGUMENTS][256];
    enum type
        type[MOST_BYTES]; // of the value that begins at that byte of the output; NONE: none does
    size_t out_bytes, argument_bytes[MOST_ARGUMENTS];
    int argument_count, error;
    char prints[4096];
} Head;

static Head head;

static void fail(PtxFile *file, const char *format, const char *what)
{
    if (!*file->failure) snprintf(file->failure, sizeof file->failure, format, what);
}

// ---- reading ----

static enum type type_named(const char *name)
{
    static const char *const names[] = {
        [u8] = "u8",   [s8] = "s8",   [u16] = "u16", [s16] = "s16", [u32] = "u32",
        [s32] = "s32", [u64] = "u64", [s64] = "s64", [f32] = "f32", [f64] = "f64"
    };
    for (enum type type = u8; type <= f64; type++)
        if (!strcmp(name, names[type])) return type;
    return NONE;
}

typedef struct {
    uint8_t *bytes;
    size_t *count, room;
    enum type *types;
} Values;

static bool put(Values to, enum type type, uint64_t bits, bool written)
{
    size_t bytes = (size_t)type_bits(type) / 8;
    if (*to.count + bytes > to.room) return false;
    if (written) memcpy(to.bytes + *to.count, &bits, bytes);
    else memset(to.bytes + *to.count, POISON, bytes);
    if (to.types) to.types[*to.count] = type;
    *to.count += bytes;
    return true;
}

static bool put_word(Values to, enum type type, char *word)
{
    char *dots = strstr(word, ".."), *star = strchr(word, '*');
    uint64_t bits = 0, last, times = star ? strtoull(star + 1, NULL, 10) : 1;
    if (dots) {
        *dots = 0;
        if (!value_read(word, type, &bits) || !value_read(dots + 2, type, &last)) return false;
        while (bits <= last)
            if (!put(to, type, bits++, true)) return false;
        return true;
    }
    if (star) *star = 0;
    bool written = strcmp(word, "_") != 0;
    if (written && !value_read(word, type, &bits)) return false;
    while (times--)
        if (!put(to, type, bits, written)) return false;
    return true;
}

// "TYPE: values"
static bool read_values(char *line, Values to)
{
    char *rest = line, *name = strtok_r(NULL, " :", &rest), *word;
    enum type type = name ? type_named(name) : NONE;
    if (type == NONE) return false;
    while ((word = strtok_r(NULL, " ", &rest)))
        if (!put_word(to, type, word)) return false;
    return true;
}

static bool read_argument(char *line)
{
    int n = head.argument_count++;
    return n < MOST_ARGUMENTS
        && read_values(line, (Values){ head.argument[n], &head.argument_bytes[n],
                                       sizeof head.argument[n], NULL });
}

static bool read_launch(const char *line)
{
    unsigned grid, block, shared = 0;
    if (sscanf(line, "%u %u %u", &grid, &block, &shared) < 2) return false;
    head.grid.x = grid;
    head.block.x = block;
    head.shared = shared;
    return true;
}

static bool read_line(char *line)
{
    if (!strncmp(line, "// launch: ", 11)) return read_launch(line + 11);
    if (!strncmp(line, "// arg ", 7)) return read_argument(line + 7);
    if (!strncmp(line, "// out ", 7))
        return read_values(line + 7, (Values){ head.out, &head.out_bytes,
                                               sizeof head.out - GUARD_BYTES, head.type });
    if (!strncmp(line, "// error: ", 10)) return (head.error = atoi(line + 10)) != 0;
    if (!strncmp(line, "// prints: ", 11)) strcat(strncat(head.prints, line + 11, 200), "\n");
    return true;
}

static void read_head(PtxFile *file)
{
    head = (Head){ .grid = { 1, 1, 1 }, .block = { LANES, 1, 1 } };
    char *copy = strdup(file->text), *rest = copy, *line;
    while ((line = strtok_r(NULL, "\n", &rest)) && !strncmp(line, "//", 2)) {
        char shown[64];
        snprintf(shown, sizeof shown, "%s", line);
        if (!read_line(line)) fail(file, "this line cannot be read: %s", shown);
    }
    free(copy);
    if (!head.out_bytes && !head.error && !*head.prints) fail(file, "it says no answer%s", "");
}

// ---- which opcodes it has ----

static bool is_one_of(const char *part, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(part, *list)) return true;
    return false;
}

// Copies an opcode without the parts that are not (or are) in the list, its first always.
static void copy_opcode(char *to, const char *opcode, const char *const *list, bool keep)
{
    char copy[96], *rest = copy, *part;
    snprintf(copy, sizeof copy, "%s", opcode);
    strcpy(to, strsep(&rest, "."));
    while ((part = strsep(&rest, ".")))
        if (is_one_of(part, list) == keep) strcat(strcat(to, "."), part);
}

// Does an instruction's opcode name this row? Those of memory have modifiers in between:
// ld.volatile.global.u32. Atomics have a space, a scope, an order and a vector's length that the
// row leaves out, mbarriers the like, matrices a layout.
static bool names_row(const char *opcode, const Row *row)
{
    static const char *const spaces[] = { "global", "const", "shared", "local", "param", NULL };
    static const char *const dropped[] = { "global", "shared", "relaxed", "acq_rel", "cta", "gpu",
                                           "sys",    "v2",     "v4",      "v8",      NULL };
    static const char *const order[] = { "release", "acquire", "relaxed",     "cta",
                                         "cluster", "shared",  "shared::cta", "shared::cluster",
                                         "b64",     NULL };
    static const char *const spaces_of_bulk[] = {
        "async",           "bulk",         "reduce",     "global", "shared::cta",
        "shared::cluster", "commit_group", "wait_group", "read",   NULL
    };
    static const char *const how[] = { "sync", "aligned", "row",    "col", "satfinite",
                                       "rn",   "global",  "shared", "b64", NULL };
    char found[104];
    if (row->shape == MEMORY) {
        copy_opcode(found, opcode, spaces, true);
        return strchr(opcode, '.') && !strcmp(found, row->opcode);
    }
    if (row->shape == ATOMIC) {
        copy_opcode(found, opcode, dropped, false);
        return !strcmp(found, row->opcode);
    }
    if (row->shape == MATRIX && strstr(opcode, "async.bulk")) {
        copy_opcode(found, opcode, spaces_of_bulk, true);
        return !strcmp(found, row->opcode);
    }
    if (row->shape == MATRIX) {
        copy_opcode(found, opcode, how, false);
        return !strcmp(found, row->opcode);
    }
    if (!strncmp(opcode, "mbarrier.", 9)) {
        copy_opcode(found, opcode, order, false);
        return !strcmp(found, row->opcode);
    }
    size_t length = strlen(row->opcode);
    if (strncmp(opcode, row->opcode, length)) return false;
    return !opcode[length] || !strcmp(opcode + length, ".uni")
        || !strcmp(row->opcode, "createpolicy");
}

bool file_has(const PtxFile *file, const Row *row)
{
    char *copy = strdup(file->text), *rest = copy, *line;
    bool found = false;
    while (!found && (line = strtok_r(NULL, "\n", &rest))) {
        char *word = strtok(line, " \t;");
        if (word && *word == '@') word = strtok(NULL, " \t;");
        found = word && names_row(word, row);
    }
    free(copy);
    return found;
}

// ---- running ----

void file_read(PtxFile *file, const char *path)
{
    file->path = strdup(path);
    FILE *from = fopen(path, "r");
    size_t room = 0;
    if (!from || getdelim(&file->text, &room, 0, from) < 0) {
        perror(path);
        exit(2);
    }
    fclose(from);
    read_head(file);
    for (int n = 0; n < row_count; n++)
        if (row_needs_file(&rows[n]) && file_has(file, &rows[n])) rows[n].in_a_file = true;
}

static void compare(PtxFile *file, const uint8_t *got)
{
    for (size_t at = 0; at < head.out_bytes; at++) {
        if (head.type[at] == NONE) continue;
        uint64_t is = 0, due = 0;
        size_t bytes = (size_t)type_bits(head.type[at]) / 8;
        memcpy(&is, got + at, bytes);
        memcpy(&due, head.out + at, bytes);
        if (is == due) continue;
        snprintf(file->failure, sizeof file->failure, "byte %zu of the output: %s, not %s", at,
                 value_text(is, head.type[at]), value_text(due, head.type[at]));
        return;
    }
    for (size_t at = head.out_bytes; at < head.out_bytes + GUARD_BYTES; at++)
        if (got[at] != POISON) fail(file, "it writes behind %s", "its output");
}

static cudaError_t launch(const PtxFile *file, void *out)
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaError_t error = cudaLibraryLoadData(&library, file->text, NULL, NULL, 0, NULL, NULL, 0);
    if (error) return error;
    void *arguments[MOST_ARGUMENTS + 1] = { &out };
    for (int n = 0; n < head.argument_count; n++) arguments[n + 1] = head.argument[n];
    error = cudaLibraryGetKernel(&kernel, library, "test");
    if (!error)
        error =
            cudaLaunchKernel((void *)kernel, head.grid, head.block, arguments, head.shared, NULL);
    return error ? error : cudaDeviceSynchronize();
}

// In a child process: what it ends with is final.
static void run_here(void *argument)
{
    PtxFile *file = argument;
    static uint8_t got[MOST_BYTES];
    size_t bytes = head.out_bytes + GUARD_BYTES;
    memset(got, POISON, bytes);
    void *out;
    cudaError_t error = cudaMalloc(&out, bytes);
    if (!error) error = cudaMemcpy(out, got, bytes, cudaMemcpyHostToDevice);
    if (!error) error = launch(file, out);
    if (error != (cudaError_t)head.error) {
        snprintf(file->failure, sizeof file->failure, "error %d (%s), not %d", (int)error,
                 cudaGetErrorName(error), head.error);
    } else if (!error) {
        error = cudaMemcpy(got, out, bytes, cudaMemcpyDeviceToHost);
        cudaFree(out);
        if (error) fail(file, "its output cannot be read: %s", cudaGetErrorName(error));
        else compare(file, got);
    }
    file->ran = true;
}

static void compare_prints(PtxFile *file, FILE *printed)
{
    char text[sizeof head.prints];
    fseek(printed, 0, SEEK_SET);
    text[fread(text, 1, sizeof text - 1, printed)] = 0;
    if (strcmp(text, head.prints)) fail(file, "it prints\n%s", text);
}

void file_run(PtxFile *file)
{
    if (*file->failure) return;
    read_head(file);
    FILE *printed = tmpfile();
    if (!printed) abort();
    run_child(run_here, file, fileno(printed));
    if (!file->ran) fail(file, "its process died%s", "");
    compare_prints(file, printed);
    fclose(printed);
}
