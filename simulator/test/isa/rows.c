// Makes the rows from isa.def, and reads their cases:
//
//     opcode [~Nulp] [~absolute]   a, b -> d   a, b -> d ...      going on in lines that begin with
//     a space
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rows.h"

Row *rows;
int row_count;

// A row's name as PTX writes it: '.' for '_', "::" for "__", but some words have a '_' of their
// own.
static void write_opcode(char *name)
{
    static const char *const words[] = { "acq_rel",           "evict_last",   "evict_normal",
                                         "launch_dependents", "commit_group", "wait_group",
                                         "wait_all",          "arrive_drop",  "expect_tx",
                                         "complete_tx",       "test_wait",    "try_wait",
                                         "pending_count",     "mbarrier_init" };
    for (char *at = name; *at; at++) {
        size_t own = 0;
        for (unsigned n = 0; n < sizeof words / sizeof *words; n++)
            if (at > name && !strncmp(at, words[n], strlen(words[n]))) own = strlen(words[n]);
        if (own) at += own - 1;
        else if (at[0] == '_' && at[1] == '_') at[0] = at[1] = ':', at++;
        else if (*at == '_') *at = '.';
    }
}

// The row of a data file's opcode, or of a name.
static Row *find_row(const char *opcode)
{
    char name[sizeof rows->name];
    snprintf(name, sizeof name, "%s", opcode);
    for (char *at = name; *at; at++)
        if (*at == '.' || *at == ':') *at = '_';
    for (int n = 0; n < row_count; n++)
        if (!strcmp(rows[n].name, name)) return &rows[n];
    return NULL;
}

static void add_row(const char *name, const char *tail, enum shape shape, enum type d, enum type a,
                    enum type b, enum type c)
{
    if (row_count == MOST_ROWS) abort();
    Row *row = &rows[row_count++];
    *row = (Row){ .shape = shape,
                  .type = { d, a, b, c },
                  .inputs = (a != NONE) + (b != NONE) + (c != NONE),
                  .outputs = shape == UNPACK || shape == COMPARE_2 ? 2 : 1 };
    snprintf(row->name, sizeof row->name, "%s%s", name, tail);
    snprintf(row->opcode, sizeof row->opcode, "%s", name);
    write_opcode(row->opcode);
}

// The latest row is of an op, whose name its own begins with.
static void is_of(const char *op)
{
    Row *row = &rows[row_count - 1];
    if (strncmp(row->name, op, strlen(op))) row_fail(row, "the table has it for a kind of %s", op);
}

// Another name for a row that may come later.
static void add_same(const char *name, const char *as)
{
    add_row(name, "", SAME, NONE, NONE, NONE, NONE);
    rows[row_count - 1].same = as;
}

static void fill_same(Row *row)
{
    const Row *as = row;
    while (as->same) as = find_row(as->same);
    row->shape = as->shape, row->inputs = as->inputs, row->outputs = as->outputs;
    memcpy(row->type, as->type, sizeof row->type);
}

#define SAME(n, as) add_same(#n, #as);
#define COMPARE_2(n, T, relations, f) add_row(#n, "", COMPARE_2, pred, T, T, NONE);
#define VIDEO(n, ...) add_row(#n, "", VIDEO, NONE, NONE, NONE, NONE);
#define TABLE(n, ...) add_row(#n, "", TABLE, NONE, NONE, NONE, NONE);
#define UNARY(n, op, D, A, lane) add_row(#n, "", UNARY, D, A, NONE, NONE), is_of(#op);
#define BINARY(n, op, D, A, B, lane) add_row(#n, "", BINARY, D, A, B, NONE), is_of(#op);
#define TERNARY(n, op, D, A, B, C, lane) add_row(#n, "", TERNARY, D, A, B, C), is_of(#op);
#define CONVERT(n, D, A, lane) add_row(#n, "", CONVERT, D, A, NONE, NONE);
#define COMPARE(n, A, B, lane) add_row(#n, "", COMPARE, pred, A, B, NONE);
#define TEST(n, op, A, lane) add_row(#n, "", TEST, pred, A, NONE, NONE), is_of(#op);
#define SELECT(n, D) add_row(#n, "", SELECT, D, D, D, pred);
#define LOGIC(n, op, inputs, warp)                                                                 \
    add_row(#n, "", LOGIC, pred, pred, inputs > 1 ? pred : NONE, NONE), is_of(#op);
#define PACK(n, D, A) add_row(#n, "_pack", PACK, D, A, A, NONE);
#define UNPACK(n, D, A) add_row(#n, "_unpack", UNPACK, D, A, NONE, NONE);
#define PACK_4(n, D, A) add_row(#n, "_pack_4", PACK_4, D, A, NONE, NONE);
#define UNPACK_4(n, D, A) add_row(#n, "_unpack_4", UNPACK_4, D, A, NONE, NONE);
#define CARRY(n, op, ...) add_row(#n, "", CARRY, NONE, NONE, NONE, NONE), is_of(#op);
#define MEMORY(n, ...) add_row(#n, "", MEMORY, NONE, NONE, NONE, NONE);
#define FLOW(n, ...) add_row(#n, "", FLOW, NONE, NONE, NONE, NONE);
#define EXCHANGE(n, op, ...) add_row(#n, "", EXCHANGE, NONE, NONE, NONE, NONE), is_of(#op);
#define ATOMIC(n, op, ...) add_row(#n, "", ATOMIC, NONE, NONE, NONE, NONE), is_of(#op);
#define FENCE(n) add_row(#n, "", FENCE, NONE, NONE, NONE, NONE);
#define MATRIX(n, ...) add_row(#n, "", MATRIX, NONE, NONE, NONE, NONE);
#define INSERT(n, T) add_row(#n, "", INSERT, NONE, NONE, NONE, NONE);

void rows_make(void)
{
    rows = mmap(NULL, MOST_ROWS * sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    if (rows == MAP_FAILED) abort();
#include "../../isa/isa.def"
    for (int n = 0; n < row_count; n++)
        if (rows[n].same) fill_same(&rows[n]);
}

bool row_needs_file(const Row *row)
{
    return row->shape >= MEMORY || strstr(row->name, "b128") || !strncmp(row->name, "cvta_", 5)
        || !strncmp(row->name, "isspacep_", 9) || !strncmp(row->name, "mapa_", 5)
        || !strncmp(row->name, "getctarank_", 11);
}

void row_fail(Row *row, const char *format, ...)
{
    if (*row->failure) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->failure, sizeof row->failure, format, arguments);
    va_end(arguments);
}

// ---- cases ----

static bool read_tolerance(Row *row, const char *word)
{
    char *end;
    double value = strtod(word + 1, &end);
    if (!strcmp(end, "ulp")) row->ulps = value;
    else if (!*end) row->absolute = value;
    else return false;
    return value > 0;
}

// Reads `count` values, with commas between them, each of the type that `type` gives in turn.
static bool read_values(char **rest, int count, const enum type *type, int step, uint64_t *bits)
{
    for (int n = 0; n < count; n++) {
        char *word = strtok_r(NULL, " \n", rest);
        if (!word) return false;
        char *comma = word + strlen(word) - 1;
        if ((*comma == ',') != (n + 1 < count)) return false;
        if (*comma == ',') *comma = 0;
        if (!value_read(word, type[n * step], &bits[n])) return false;
    }
    return true;
}

// One case. False: the line is at its end, or (*good is false) cannot be read.
static bool read_case(Row *row, char **rest, bool *good)
{
    *rest += strspn(*rest, " \n");
    if (!**rest) return false;
    Case next;
    *good = row->count < MOST_CASES && read_values(rest, row->inputs, row->type + 1, 1, next.in);
    char *arrow = *good ? strtok_r(NULL, " \n", rest) : NULL;
    *good =
        arrow && !strcmp(arrow, "->") && read_values(rest, row->outputs, row->type, 0, next.out);
    if (*good) row->cases[row->count++] = next;
    return *good;
}

static bool read_line(char *line, Row **row)
{
    bool good = true;
    char *rest = line;
    if (*line != ' ') {
        char *opcode = strtok_r(line, " \n", &rest);
        *row = opcode ? find_row(opcode) : NULL;
        if (*row && (*row)->count) return false;
    }
    if (!*row || row_needs_file(*row)) return false;
    for (rest += strspn(rest, " "); *rest == '~'; rest += strspn(rest, " "))
        if (!read_tolerance(*row, strtok_r(NULL, " \n", &rest))) return false;
    while (read_case(*row, &rest, &good))
        ;
    return good;
}

int rows_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return 1;
    }
    char *line = NULL;
    size_t room = 0;
    int wrong = 0, number = 0;
    for (Row *row = NULL; getline(&line, &room, file) > 0;) {
        number++;
        if (*line == '#' || *line == '\n' || read_line(line, &row)) continue;
        printf("%s:%d: not in the table, named twice, or a case that cannot be read%s%s\n", path,
               number, row ? ": " : "", row ? row->name : "");
        wrong++;
    }
    free(line);
    fclose(file);
    return wrong;
}
