// Tensor Core instructions, which all lanes of a warp execute together: products of matrices in
// registers, and moves of matrices between registers and memory. A move makes one access for each
// register, or pair of registers.
#include "access.h"

#include <string.h>

#include "isa/tensor.h"
#include "source_fill.h"
#include "handlers.h"
#include "access_pattern.h"

static Access part_of(Warp *w, const Insn *i, const u32 *vector, bool store)
{
    Access a;
    memset(&a, 0, offsetof(Access, address));
    a.warp = w;
    a.insn = i;
    a.mask = ~0u;
    a.store = store;
    a.elements = 1;
    a.width = a.bytes = a.register_width = 4;
    a.vector = vector;
    return a;
}

static AccessPattern *pattern_of(const Access *a, u32 number)
{
    return &a->warp->block->grid->patterns[a->insn->pattern + number];
}

// ---- products ----

void run_multiply(Warp *w, const Insn *i, u32 mask)
{
    const Matrix *x = i->matrix;
    if (!exchange_all(w, i, mask)) return;
    u32 *rows[4 * MOST_FRAGMENT];
    u32 count = x->d.registers + x->a.registers + x->b.registers + x->c.registers;
    for (u32 n = 0; n < count; n++) rows[n] = row_of(w, i->list[n]);
    u32 *const *a = rows + x->d.registers, *const *b = a + x->a.registers,
               *const *c = b + x->b.registers;
    matrix_multiply(x, rows, (const u32 *const *)a, (const u32 *const *)b, (const u32 *const *)c);
}

// ---- tiles of 8 x 8 halves ----

typedef u16 Tile[8][8];

// A lane holds two neighbours of a row, or of a column where the matrix is transposed.
static void deal_out(const Tile tile, bool trans, u32 *row)
{
    for (u32 l = 0; l < LANES; l++) {
        u32 g = l / 4, t = l % 4 * 2;
        row[l] =
            trans ? tile[t][g] | (u32)tile[t + 1][g] << 16 : tile[g][t] | (u32)tile[g][t + 1] << 16;
    }
}

static void gather(Tile tile, bool trans, const u32 *row)
{
    for (u32 l = 0; l < LANES; l++) {
        u32 g = l / 4, t = l % 4 * 2;
        *(trans ? &tile[t][g] : &tile[g][t]) = (u16)row[l];
        *(trans ? &tile[t + 1][g] : &tile[g][t + 1]) = (u16)(row[l] >> 16);
    }
}

// Lane l of the access has four bytes of row l / 4.
static bool load_tile(Access *a, AccessPattern *pattern)
{
    Tile tile;
    u32 *row = row_of(a->warp, *a->vector);
    a->element_bytes = 2;
    if (!access_allow(a, pattern)) return false;
    for (u32 l = 0; l < LANES; l++) memcpy(&tile[l / 4][l % 4 * 2], access_place(a, l), 4);
    deal_out(tile, a->trans, row);
    access_loaded(a);
    return true;
}

static bool store_tile(Access *a, AccessPattern *pattern)
{
    Tile tile;
    u8 values[LANES * VALUE_BYTES];
    gather(tile, a->trans, row_of(a->warp, *a->vector));
    for (u32 l = 0; l < LANES; l++) memcpy(values + VALUE_BYTES * l, &tile[l / 4][l % 4 * 2], 4);
    a->element_bytes = 2;
    a->values = values;
    if (!access_allow(a, pattern)) return false;
    for (u32 l = 0; l < LANES; l++) memcpy(access_place(a, l), values + VALUE_BYTES * l, 4);
    return true;
}

static void addresses_of(const Warp *w, const Insn *i, u64 address[LANES])
{
    const void *base = row_of(w, i->a);
    for (u32 l = 0; l < LANES; l++)
        address[l] = i->source_width == 8 ? ((const u64 *)base)[l] + i->offset
                                          : ((const u32 *)base)[l] + (u32)i->offset;
    for (u32 l = 0; i->space == SPACE_SHARED && l < LANES; l++) address[l] -= w->block->shared_base;
}

// A row must begin at a multiple of its 16 bytes. Otherwise it is reported, and the grid ends.
static bool rows_aligned(Warp *w, const Insn *i, enum space space, const u64 address[LANES],
                         u32 count, bool store)
{
    u64 beside = 0;
    for (u32 l = 0; l < 8 * count; l++) beside |= address[l] & 15;
    if (!beside) return true;
    Access a = part_of(w, i, i->list, store);
    a.space = space;
    a.bytes = 16;
    a.mask = count == 4 ? ~0u : (1u << 8 * count) - 1;
    memcpy(a.address, address, sizeof a.address);
    return access_allow(&a, NULL);
}

static void move_rows(Warp *w, const Insn *i, u32 mask, bool store)
{
    u64 address[LANES];
    if (!exchange_all(w, i, mask)) return;
    addresses_of(w, i, address);
    enum space space = i->space == SPACE_GENERIC ? access_generic(w, address, ~0u) : i->space;
    if (!rows_aligned(w, i, space, address, i->matrix->d.registers, store)) return;
    for (u32 n = 0; n < i->matrix->d.registers; n++) {
        Access a = part_of(w, i, &i->list[n], store);
        a.space = space;
        a.trans = i->matrix->trans;
        for (u32 l = 0; l < LANES; l++) a.address[l] = address[8 * n + l / 4] + l % 4 * 4;
        if (!(store ? store_tile : load_tile)(&a, pattern_of(&a, n))) return;
    }
}

void run_rows_load(Warp *w, const Insn *i, u32 mask) { move_rows(w, i, mask, false); }
void run_rows_store(Warp *w, const Insn *i, u32 mask) { move_rows(w, i, mask, true); }

void run_rows_transpose(Warp *w, const Insn *i, u32 mask)
{
    Tile tile;
    if (!exchange_all(w, i, mask)) return;
    gather(tile, false, row_of(w, i->list[1]));
    deal_out(tile, true, row_of(w, i->list[0]));
}

// ---- fragments ----

// Where a matrix is in memory, and how a fragment holds it.
typedef struct Layout {
    const Fragment *f;
    enum space space;
    u64 base, stride; // in bytes; stride: from one contiguous row to the next
    u32 size;         // bytes of an element
    bool along;       // the elements of a fragment's row are contiguous
} Layout;

static u64 address_of(const Layout *p, u32 row, u32 col)
{
    return p->base + (p->along ? row : col) * p->stride + (p->along ? col : row) * p->size;
}

// WMMA demands alignment to what the hardware moves at a time.
static void report_misaligned(const Warp *w, const Insn *i, const Layout *p,
                              enum report_cause cause, u64 value)
{
    Report r = { .cause = cause, .address = p->base, .number = { { "value", (s64)value } } };
    source_fill(&r, w, i, 0);
    report_error(&r);
}

static Layout layout_of(const Warp *w, const Insn *i, const Fragment *f)
{
    u64 address[LANES];
    const Matrix *x = i->matrix;
    addresses_of(w, i, address);
    Layout p = { .f = f, .size = isa_type_width(f->type), .along = x->by_columns == f->turned };
    p.space = i->space == SPACE_GENERIC ? access_generic(w, address, ~0u) : i->space;
    p.base = address[0];
    u32 across = p.along ? f->cols : f->rows;
    p.stride = (u64)p.size * (i->b ? *(const u32 *)row_of(w, i->b) : across);
    if (p.base % 32) report_misaligned(w, i, &p, CAUSE_matrix_misaligned, p.base);
    if (p.stride % 16) report_misaligned(w, i, &p, CAUSE_matrix_stride_misaligned, p.stride);
    return p;
}

// Bytes of a lane in a register: 4, or a double's 8.
static u32 register_bytes(const Layout *p) { return p->size < 4 ? 4 : p->size; }

// The contiguous elements of a lane from register `first` on: elements of 32 bits and more are two,
// in two registers.
static bool move_along(Warp *w, const Insn *i, const Layout *p, u32 first, u32 count, bool store)
{
    Access a = part_of(w, i, &i->list[first], store);
    const Fragment *f = p->f;
    a.space = p->space;
    const u32 each = register_bytes(p);
    a.elements = count;
    a.width = a.register_width = each;
    a.bytes = each * count;
    a.element_bytes = p->size;
    for (u32 l = 0; l < LANES; l++)
        a.address[l] = address_of(p, f->row[first] + l / 4, f->col[first] + l % 4 * f->column_step);
    if (!access_allow(&a, pattern_of(&a, first))) return false;
    for (u32 n = 0; n < count; n++) {
        u8 *row = row_of(w, i->list[first + n]);
        for (u32 l = 0; l < LANES; l++) {
            if (store) memcpy(access_place(&a, l) + each * n, row + each * l, each);
            else memcpy(row + each * l, access_place(&a, l) + each * n, each);
        }
    }
    if (!store) access_loaded(&a);
    return true;
}

// Elements that are not contiguous are moved one at a time, for each lane's register.
static bool move_elements(Warp *w, const Insn *i, const Layout *p, u32 r, bool store)
{
    const Fragment *f = p->f;
    for (u32 j = 0; j < f->per; j++) {
        u32 vector = i->list[r] + j * p->size; // for observers, which look at its lowest bytes
        Access a = part_of(w, i, &vector, store);
        a.space = p->space;
        a.width = a.bytes = p->size;
        a.register_width = register_bytes(p);
        a.adds = j > 0;
        for (u32 l = 0; l < LANES; l++)
            a.address[l] = address_of(p, f->row[r] + l / 4, f->col[r] + l % 4 * f->column_step + j);
        if (!access_allow(&a, NULL)) return false;
        u8 *row = row_of(w, vector);
        for (u32 l = 0; l < LANES; l++) {
            if (store) memcpy(access_place(&a, l), row + a.register_width * l, p->size);
            else memcpy(row + a.register_width * l, access_place(&a, l), p->size);
        }
        if (!store) access_loaded(&a);
    }
    return true;
}

// Halves that are not contiguous: the tile is moved as it is in memory, and transposed.
static bool move_turned(Warp *w, const Insn *i, const Layout *p, u32 r, bool store)
{
    Access a = part_of(w, i, &i->list[r], store);
    const Fragment *f = p->f;
    a.space = p->space;
    a.trans = true;
    for (u32 l = 0; l < LANES; l++)
        a.address[l] = address_of(p, f->row[r] + l % 4 * 2, f->col[r] + l / 4);
    return (store ? store_tile : load_tile)(&a, pattern_of(&a, r));
}

static void move_fragment(Warp *w, const Insn *i, u32 mask, const Fragment *f, bool store)
{
    if (!exchange_all(w, i, mask)) return;
    Layout p = layout_of(w, i, f);
    bool pairs = p.size >= 4 && f->column_step == 2 && p.along;
    for (u32 r = 0; r < f->distinct; r += 1 + pairs) {
        bool done = p.along     ? move_along(w, i, &p, r, 1 + pairs, store)
                  : p.size == 2 ? move_turned(w, i, &p, r, store)
                                : move_elements(w, i, &p, r, store);
        if (!done) return;
    }
    for (u32 r = f->distinct; !store && r < f->registers; r++) {
        memcpy(row_of(w, i->list[r]), row_of(w, i->list[r % f->distinct]), LANES * sizeof(u32));
        w->taint[i->list[r] / 64] = w->taint[i->list[r % f->distinct] / 64];
    }
}

void run_fragment_load(Warp *w, const Insn *i, u32 mask)
{
    const Matrix *x = i->matrix;
    move_fragment(w, i, mask, x->a.registers ? &x->a : x->b.registers ? &x->b : &x->c, false);
}

void run_fragment_store(Warp *w, const Insn *i, u32 mask)
{
    move_fragment(w, i, mask, &i->matrix->d, true);
}
