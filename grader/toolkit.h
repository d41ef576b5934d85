// The CUDA Toolkit that submissions are compiled by.
#pragma once

// nvcc's version, "13.0.88", or NULL: the environment's NVCC, or the nvcc on PATH, does not say it.
// The caller frees it.
char *toolkit_version(void);
