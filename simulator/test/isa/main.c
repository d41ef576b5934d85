// The instruction table's tests: every row of isa.def, run on the device through the CUDA runtime,
// and every .ptx file here. A row without data, data without a row, and PTX that NVIDIA's assembler
// refuses are failures too.
//
//     isa FOLDER SCRATCH ANSWERS    the folder of the data; where the generated PTX goes; what
//                                   ../conformance.sh compares with,
//                                   which is a test, too
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { MOST_FILES = 256 };

static PtxFile *files;
static int file_count;

void run_child(void (*what)(void *), void *argument, int output)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (output >= 0) dup2(output, STDOUT_FILENO);
        what(argument);
        fflush(NULL);
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) perror("a test's process");
}

// ---- finding ----

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_folder(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_name), wrong = 0;
    for (int n = 0; n < count; n++) {
        char path[4096];
        const char *name = entries[n]->d_name, *dot = strrchr(name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (dot && !strcmp(dot, ".txt")) wrong += rows_read(path);
        if (dot && !strcmp(dot, ".ptx") && file_count < MOST_FILES)
            file_read(&files[file_count++], path);
        free(entries[n]);
    }
    if (count >= 0) free(entries);
    return wrong;
}

// "vadd.s32.u32.u32.sat" has the row `vadd`, "vset.u32.u32.eq" has `vset.eq`: all the row's parts.
static bool has_parts(const char *form, const char *opcode)
{
    char copy[sizeof rows->opcode], *rest = copy, *part;
    snprintf(copy, sizeof copy, "%s", opcode);
    size_t first = strcspn(copy, ".");
    if (strncmp(form, copy, first) || form[first] != '.') return false;
    while ((part = strsep(&rest, ".")))
        if (!strstr(form, part)) return false;
    return true;
}

// Notes the rows that have forms in the differential test.
static int read_answers(const char *path)
{
    FILE *from = fopen(path, "r");
    if (!from) {
        perror(path);
        return 1;
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, from) > 0) {
        line[strcspn(line, ": ")] = 0;
        for (int n = 0; n < row_count; n++)
            if (!strcmp(line, rows[n].opcode)
                || (rows[n].shape == VIDEO && has_parts(line, rows[n].opcode)))
                rows[n].recorded = true;
    }
    free(line);
    fclose(from);
    return 0;
}

// ---- NVIDIA's assembler ----

static bool have_assembler;

// What it says about a file, a line at a time.
static void assemble(const char *path, void (*said)(const char *line, void *about), void *about)
{
    char command[600], *line = NULL;
    size_t room = 0;
    snprintf(command, sizeof command, "ptxas -arch=sm_90 -O0 '%s' -o /dev/null 2>&1", path);
    FILE *out = popen(command, "r");
    if (!out) return;
    while (getline(&line, &room, out) > 0) said(line, about);
    pclose(out);
    free(line);
}

static void file_said(const char *line, void *about)
{
    PtxFile *file = about;
    if (!*file->failure) snprintf(file->failure, sizeof file->failure, "ptxas: %s", line);
}

// The last row whose kernel begins at that line or above.
static Row *row_at(int line)
{
    Row *found = NULL;
    for (int n = 0; n < row_count; n++)
        if (rows[n].count && rows[n].first_line <= line) found = &rows[n];
    return found;
}

static void row_said(const char *line, void *about)
{
    const char *place = strstr(line, ", line ");
    Row *row = place ? row_at(atoi(place + 7)) : NULL;
    if (row) row_fail(row, "ptxas: %s", line);
    else if (strncmp(line, "ptxas info", 10) && !strstr(line, "aborted due to errors"))
        *(int *)about += printf("%s", line) > 0;
}

// Every generated kernel, in one file.
static int assemble_rows(const char *scratch)
{
    char path[256];
    snprintf(path, sizeof path, "%s/isa-rows.ptx", scratch);
    FILE *to = fopen(path, "w");
    if (!to) {
        perror(path);
        return 1;
    }
    kernel_header(to);
    int line = 5, wrong = 0;
    for (int n = 0; n < row_count; n++) {
        if (!rows[n].count) continue;
        rows[n].first_line = line;
        char *text;
        size_t size;
        FILE *one = open_memstream(&text, &size);
        kernel_write(one, &rows[n]);
        fclose(one);
        for (const char *at = text; *at; at++) line += *at == '\n';
        fputs(text, to);
        free(text);
    }
    fclose(to);
    if (have_assembler) assemble(path, row_said, &wrong);
    return wrong;
}

// ---- the verdict ----

static void judge_row(Row *row)
{
    if (row->recorded && !row->count && !row->in_a_file) return;
    if (!row_needs_file(row)) {
        if (!row->count)
            row_fail(row, "no test: give it cases in a .txt file of simulator/test/isa");
        else if (!row->ran) row_fail(row, "it was not run");
        return;
    }
    if (!row->in_a_file)
        row_fail(row, "no test: no .ptx file of simulator/test/isa has %s", row->opcode);
    for (int n = 0; n < file_count; n++)
        if (*files[n].failure && file_has(&files[n], row)) row_fail(row, "%s fails", files[n].path);
}

static int report(int wrong)
{
    int passed = 0, failed = wrong, cases = 0;
    for (int n = 0; n < row_count; n++) {
        judge_row(&rows[n]);
        cases += rows[n].count;
        if (*rows[n].failure) failed++, printf("%s: %s\n", rows[n].name, rows[n].failure);
        else passed++;
    }
    for (int n = 0; n < file_count; n++) {
        if (*files[n].failure) failed++, printf("%s: %s\n", files[n].path, files[n].failure);
        else passed++;
    }
    printf("%d rows with %d cases, and %d files\n%d passed, %d failed\n", row_count, cases,
           file_count, passed, failed);
    return failed;
}

int main(int count, char **words)
{
    if (count != 4) {
        fprintf(stderr, "usage: %s FOLDER SCRATCH ANSWERS\n", words[0]);
        return 2;
    }
    rows_make();
    files = mmap(NULL, MOST_FILES * sizeof *files, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (files == MAP_FAILED) abort();
    int wrong = read_folder(words[1]) + read_answers(words[3]);
    have_assembler = system("ptxas --version >/dev/null 2>&1") == 0;
    if (!have_assembler) wrong++, puts("ptxas is not installed: the tests' PTX was not checked");
    wrong += assemble_rows(words[2]);
    run_child(alu_run, NULL, -1);
    for (int n = 0; n < file_count; n++) {
        if (have_assembler) assemble(files[n].path, file_said, &files[n]);
        file_run(&files[n]);
    }
    return report(wrong) > 0;
}
