// Which of an SM's units executes an instruction, in Nsight Compute's words.
#pragma once
#include "isa/isa.h"

enum pipe {
    PIPE_ALU, // integers but products, bits, comparisons, choices
    PIPE_FMA, // float and half arithmetic, products of integers
    PIPE_FP64,
    PIPE_XU,     // approximations, conversions between number formats, counting bits
    PIPE_LSU,    // memory, shuffles
    PIPE_ADU,    // barriers of a block, mbarriers, constants
    PIPE_TENSOR, // products of matrices
    PIPE_TMA,    // copies in bulk
    PIPE_CBU,    // branches, and what brings lanes together
    PIPES
};

enum pipe row_pipe(const IsaRow *row);
