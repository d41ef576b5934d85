// Matrices spread over the lanes of a warp, and their products as Tensor Cores compute them.
#pragma once
#include "isa.h"

enum { MOST_FRAGMENT = 8, MOST_SIDE = 32 }; // registers of a lane; rows or columns of a matrix

// A matrix in registers of 32 bits, as an H200 has it. Each register of the warp holds a tile of
// eight rows, four lanes to a row: element j of lane l's register r is the one in row row[r] + l /
// 4 and column col[r] + l % 4 * apart + j. Rows and columns are those of the matrix, or, where it
// is `turned`, the other way round.
typedef struct Fragment {
    u8 registers; // of each lane
    u8 distinct;  // those from here on repeat the first ones
    u8 per;       // elements of a register
    u8 column_step;
    u8 type; // enum type
    bool turned;
    u8 rows, cols; // of the matrix as the fragment has it, turned or not
    u8 row[MOST_FRAGMENT], col[MOST_FRAGMENT];
} Fragment;

// What an instruction of the table's MATRIX rows does.
typedef struct Matrix {
    Fragment d, a, b, c;
    u32 m, n, k;
    bool saturate;                     // .satfinite
    bool by_columns;                   // wmma.load, wmma.store: .col
    bool trans;                        // ldmatrix, stmatrix
    u32 offset_to, offset_from, bytes; // cp.async
    bool ignores;                      // cp.async: the last operand is a predicate
    bool past_l1;                      // cp.async.cg, and copies in bulk
    // Of copies in bulk: their source's and their mbarrier's address. The latter is at offset_to.
    u32 mbarrier; // row
    bool wide_from, wide_mbarrier;
    bool noinc;          // cp.async.mbarrier.arrive
    bool reads;          // cp.async.bulk.wait_group.read: that sources have been read is enough
    bool stores, within; // from shared to global memory; within shared memory; else from global to
                         // shared memory
    const IsaRow *reduces; // cp.reduce: the atomic of that kind
} Matrix;

// The fragments of a row's operands. A part that the row does not have is left with no registers.
void matrix_of(const IsaRow *row, Matrix *matrix);

// Accesses that it makes, at most, of which each may have a shape to remember.
static inline u32 matrix_accesses(const Matrix *x)
{
    if (x->bytes) return 2;
    u32 parts =
        (x->d.registers > 0) + (x->a.registers > 0) + (x->b.registers > 0) + (x->c.registers > 0);
    return parts == 1 ? x->d.registers + x->a.registers + x->b.registers + x->c.registers : 0;
}

// d = a b + c. Each operand is a row of 32 words for each of its registers. d may be c.
void matrix_multiply(const Matrix *matrix, u32 *const d[], const u32 *const a[],
                     const u32 *const b[], const u32 *const c[]);
