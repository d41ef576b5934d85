// What the test programs share: a CHECK that ends the program with the line of what failed.
#pragma once
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);            \
            exit(99);                                                                          \
        }                                                                                      \
    } while (0)

#define OK(call) CHECK((call) == cudaSuccess)
