// Decodes PTX text once, into the tables that the executor runs.
#pragma once
#include "program/module.h"

// Decodes PTX texts (NULL ends them) for a device and links them. `twin`: the same module on
// another device, with which it shares managed variables, or NULL. NULL: *error, which the caller
// frees, says what is wrong and where.
Module *module_load(char *const *texts, u32 device, const Module *twin, char **error);

// Frees it with its kernels and variables.
void module_unload(Module *module);

// The address and size of a __device__ or __constant__ variable. False: none has that name.
bool module_variable(Module *module, const char *name, u64 *address, u64 *size);
