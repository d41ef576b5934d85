// Running things on the device, through the CUDA runtime alone: a simulated device and a GPU are
// tested alike.
#pragma once
#include "rows.h"

// Runs `what` in a child process: a device error stays with it. `output`: where its stdout goes, or
// -1.
void run_child(void (*what)(void *), void *argument, int output);

// alu.c: runs every row that has cases, and notes what is wrong in the rows.
void alu_run(void *unused);

// file.c: a .ptx file with its answers in the comments at its head.
typedef struct {
    char *path, *text;
    bool ran;
    char failure[512]; // "": it passed
} PtxFile;
void file_read(PtxFile *file, const char *path); // and notes in the rows which opcodes it has
void file_run(PtxFile *file);
bool file_has(const PtxFile *file, const Row *row);
