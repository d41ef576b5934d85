// PTX text decoded once into tables that the executor walks.
#pragma once
#include "program/module.h"

// Decodes PTX texts (NULL ends them) for a device and links them. `twin`: the same for another
// device, whose managed variables are this one's too, or NULL. NULL: *error (the caller's to free)
// says what and where.
Module *module_load(char *const *texts, u32 device, const Module *twin, char **error);

// Frees it with its kernels and variables.
void module_unload(Module *module);

// Where a __device__ or __constant__ variable lies, and its bytes. False: there is none of that
// name.
bool module_variable(Module *module, const char *name, u64 *address, u64 *size);
