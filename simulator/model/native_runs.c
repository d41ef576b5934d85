// ptxas keeps the order of most of what it translates. So the runs of the PTX and of the native
// code are aligned like the lines of two versions of a text: two may stand for each other if they
// access memory as often, use the other units about as often, and end similarly. Branches over a
// few instructions are often replaced by predicates, which makes one run of several; and a native
// loop may stand for several rounds of the loop in PTX.
#include "native_runs.h"

#include <math.h>
#include <stdlib.h>

#include "base/need.h"

enum { MOST_COPIES = 16, MOST_JOINED = 8, MOST_PAIRS = 1 << 24 };

// ---- Runs of the PTX ----

static enum feature memory_feature(u32 space, bool stores)
{
    switch (space) {
    case SPACE_SHARED: return stores ? SHARED_STORES : SHARED_LOADS;
    case SPACE_LOCAL: return stores ? LOCAL_STORES : LOCAL_LOADS;
    case SPACE_PARAM: return CONSTANT_LOADS;
    default: return stores ? GLOBAL_STORES : GLOBAL_LOADS;
    }
}

enum feature native_feature_of(const Kernel *k, const Op *op)
{
    bool in_registers = op->space == SPACE_LOCAL && k->local_in_registers;
    if (op->kind == OP_LOAD || op->kind == OP_STORE)
        return op_is_part(op) || in_registers ? NO_FEATURE
                                              : memory_feature(op->space, op->kind == OP_STORE);
    switch (op->unit) {
    case UNIT_LSU: return SHUFFLES;
    case UNIT_TENSOR: return TENSOR;
    case UNIT_XU: return XU;
    case UNIT_FP64: return FP64;
    default: return NO_FEATURE;
    }
}

static bool ends(const Op *op)
{
    return (op->kind == OP_BRANCH && !op->skips) || op->kind == OP_BARRIER || op->kind == OP_ATOMIC
        || op->kind >= OP_COPY;
}

static void note_branches(const Kernel *k, Run *r)
{
    r->branched_first = ~0u;
    for (u32 pc = 0; pc < k->code_count; pc++)
        if (k->code[pc].op == ISA_bra && k->code[pc].target == r->first) {
            if (r->branched_first == ~0u) r->branched_first = pc;
            r->branched_last = pc;
        }
}

Runs native_runs_of_ptx(const Kernel *k, const Op *ops)
{
    Runs runs = { calloc(k->code_count + 1, sizeof *runs.run), 0 };
    bool *leads = calloc(k->code_count + 1, sizeof *leads);
    if (!runs.run || !leads) no_memory();
    for (u32 pc = 0; pc < k->code_count; pc++) {
        if (ends(&ops[pc])) leads[pc + 1] = true;
        if (k->code[pc].op == ISA_bra && !ops[pc].skips) leads[k->code[pc].target] = true;
    }
    for (u32 first = 0, end; first < k->code_count; first = end) {
        Run *r = &runs.run[runs.count++];
        for (end = first + 1; end < k->code_count && !leads[end]; end++) {}
        r->first = first, r->end = end;
        note_branches(k, r);
        for (u32 pc = first; pc < end; pc++) {
            enum feature f = native_feature_of(k, &ops[pc]);
            if (f != NO_FEATURE) r->count[f] += ops[pc].own;
            r->slots += ops[pc].slots;
        }
        r->last = ends(&ops[end - 1]) ? ops[end - 1].kind : OP_PLAIN;
        r->loops = k->code[end - 1].op == ISA_bra && k->code[end - 1].target == first;
    }
    free(leads);
    return runs;
}

bool native_join(const Kernel *k, const Runs *ptx, u32 first, u32 last, Run *joined)
{
    const Run *of = ptx->run;
    *joined = of[first];
    for (u32 r = first; r < last; r++) {
        const Insn *i = &k->code[of[r].end - 1];
        bool forwards = i->op == ISA_bra && i->target >= of[r].end && i->target <= of[last].first;
        if (of[r].last != OP_PLAIN && !forwards) return false;
    }
    for (u32 r = first + 1; r <= last; r++) {
        if (of[r].branched_first < of[first].first || of[r].branched_last >= of[r].first)
            return false;
        for (u32 f = 0; f < FEATURES; f++) joined->count[f] += of[r].count[f];
        joined->slots += of[r].slots;
    }
    const Insn *end = &k->code[of[last].end - 1];
    joined->end = of[last].end;
    joined->last = of[last].last;
    joined->loops = end->op == ISA_bra && end->target == joined->first;
    return true;
}

// ---- Runs of the native code ----

enum op_kind native_end(const NativeInsn *i)
{
    switch (i->kind) {
    case NATIVE_BRANCH:
    case NATIVE_CALL:
    case NATIVE_EXIT: return OP_BRANCH;
    case NATIVE_BARRIER: return OP_BARRIER;
    case NATIVE_ATOMIC: return OP_ATOMIC;
    case NATIVE_COPY: return OP_COPY;
    case NATIVE_COMMIT: return OP_COMMIT;
    case NATIVE_WAIT: return OP_WAIT;
    default: return OP_PLAIN;
    }
}

enum feature native_feature(const NativeInsn *i)
{
    if (i->kind == NATIVE_NOTHING) return NO_FEATURE;
    if (i->kind == NATIVE_LOAD || i->kind == NATIVE_STORE)
        return memory_feature(i->space, i->kind == NATIVE_STORE);
    if (i->kind == NATIVE_SHUFFLE) return SHUFFLES;
    switch (i->pipe) {
    case PIPE_TENSOR: return i->clocks ? NO_FEATURE : TENSOR; // not: sums of halves
    case PIPE_XU: return XU;
    case PIPE_FP64: return FP64;
    default: return NO_FEATURE;
    }
}

Runs native_runs_of_code(const NativeInsn *code, u32 count)
{
    Runs runs = { calloc(count + 1, sizeof *runs.run), 0 };
    bool *leads = calloc(count + 1, sizeof *leads);
    if (!runs.run || !leads) no_memory();
    for (u32 n = 0; n < count; n++) {
        if (native_end(&code[n]) != OP_PLAIN) leads[n + 1] = true;
        if (code[n].kind == NATIVE_BRANCH && code[n].target >= 0 && (u32)code[n].target < count)
            leads[code[n].target] = true;
    }
    for (u32 first = 0, end; first < count; first = end) {
        Run *r = &runs.run[runs.count++];
        for (end = first + 1; end < count && !leads[end]; end++) {}
        r->first = first, r->end = end;
        for (u32 n = first; n < end; n++) {
            enum feature f = native_feature(&code[n]);
            if (f != NO_FEATURE) r->count[f]++;
            r->slots += code[n].kind != NATIVE_NOTHING;
        }
        r->last = native_end(&code[end - 1]);
        r->loops = code[end - 1].kind == NATIVE_BRANCH && code[end - 1].target == (s32)first;
    }
    free(leads);
    return runs;
}

// ---- Alignment ----

static float likeness(float a, float b) { return fminf(a, b) / fmaxf(1, fmaxf(a, b)); }

// Do two runs end in the same way, or does one of them only end because another begins?
static bool end_similarly(const Run *a, const Run *b)
{
    if (a->last == b->last) return true;
    return (a->last == OP_PLAIN && b->last == OP_BRANCH)
        || (a->last == OP_BRANCH && b->last == OP_PLAIN);
}

// How well a native run stands for that many rounds of a run of PTX: the instructions that it
// explains. 0: not at all.
static float score(const Run *ptx, const Run *native, u32 copies)
{
    enum { FEW = 3 };
    const float least = ptx->loops && native->loops ? 0.25f : 0.5f, least_of_units = 0.75f;
    bool unrolled = ptx->loops && !native->loops; // with a way out in each round, or as a whole
    if (native->slots < FEW || (copies > 1 && !ptx->loops) || (native->loops && !ptx->loops))
        return 0;
    if (!end_similarly(ptx, native)) return 0;
    for (u32 f = 0; f < EXACT; f++)
        if (ptx->count[f] * copies != native->count[f]) return 0;
    for (u32 f = EXACT; f < UNITS_END; f++)
        if (fmaxf(ptx->count[f] * copies, native->count[f]) >= 2
            && likeness(ptx->count[f] * copies, native->count[f]) < least_of_units)
            return 0;
    float like = likeness(ptx->slots * copies, native->slots);
    return like < least ? 0 : native->slots * like * (unrolled ? 0.5f : 1);
}

static float best_score(const Run *ptx, const Run *native, u8 *copies)
{
    float best = 0;
    for (u32 n = 1; n <= (ptx->loops ? MOST_COPIES : 1); n++) {
        float s = score(ptx, native, n);
        if (s > best) best = s, *copies = (u8)n;
    }
    return best;
}

typedef struct Match {
    float score; // of the best alignment of the runs from here on
    u8 copies;   // 0: these two are not aligned in it
    u8 joined;   // runs of the PTX that are aligned with the native one
} Match;

// The runs that begin with one of the PTX: itself, and itself joined with those after it.
typedef struct Joined {
    Run run[MOST_JOINED];
    u32 length[MOST_JOINED], count; // length: of how many
} Joined;

static void join_all(const Kernel *k, const Runs *ptx, u32 first, Joined *to)
{
    to->count = 0;
    for (u32 last = first; last < ptx->count && last < first + MOST_JOINED; last++)
        if (native_join(k, ptx, first, last, &to->run[to->count]))
            to->length[to->count++] = last - first + 1;
}

// The best alignment that begins with these two runs, or with several of the PTX.
static void begin_with(const Joined *joined, const Runs *native, Match *m, u32 p, u32 n)
{
    const u32 width = native->count + 1;
    Match *here = &m[p * width + n];
    here->score = fmaxf(m[(p + 1) * width + n].score, m[p * width + n + 1].score);
    for (u32 j = 0; j < joined->count; j++) {
        u32 length = joined->length[j];
        u8 copies = 0;
        float both = best_score(&joined->run[j], &native->run[n], &copies)
                   + m[(p + length) * width + n + 1].score;
        if (copies && both > here->score) *here = (Match){ both, copies, (u8)length };
    }
}

static void take(Pair *pairs, u32 *count, Runs *ptx, Runs *native, Pair pair)
{
    for (u32 r = pair.ptx; r < pair.ptx + pair.joined; r++) ptx->run[r].taken = true;
    native->run[pair.native].taken = true;
    pairs[(*count)++] = pair;
}

static void follow(const Match *m, Pair *pairs, u32 *count, Runs *ptx, Runs *native)
{
    const u32 width = native->count + 1;
    for (u32 p = 0, n = 0; p < ptx->count && n < native->count;) {
        const Match *here = &m[p * width + n];
        if (here->copies) {
            take(pairs, count, ptx, native, (Pair){ p, n, here->joined, here->copies });
            p += here->joined, n++;
        } else if (m[(p + 1) * width + n].score == here->score) {
            p++;
        } else {
            n++;
        }
    }
}

// Aligns the loops that are left with native loops that are left, whatever their order.
static void align_rest(Pair *pairs, u32 *count, Runs *ptx, Runs *native)
{
    for (;;) {
        float best = 0;
        Pair pair = { .joined = 1 };
        for (u32 p = 0; p < ptx->count; p++)
            for (u32 n = 0; n < native->count && ptx->run[p].loops && !ptx->run[p].taken; n++) {
                u8 copies = 0;
                if (!native->run[n].loops || native->run[n].taken) continue;
                float s = best_score(&ptx->run[p], &native->run[n], &copies);
                if (s > best) best = s, pair.ptx = p, pair.native = n, pair.copies = copies;
            }
        if (!pair.copies) return;
        take(pairs, count, ptx, native, pair);
    }
}

Pair *native_align(const Kernel *k, Runs *ptx, Runs *native, u32 *count)
{
    u64 width = native->count + 1, cells = width * (ptx->count + 1);
    Match *m = cells > MOST_PAIRS ? NULL : calloc(cells, sizeof *m);
    Pair *pairs = m ? calloc(width, sizeof *pairs) : NULL;
    *count = 0;
    for (u32 p = ptx->count; pairs && p-- > 0;) {
        Joined joined;
        join_all(k, ptx, p, &joined);
        for (u32 n = native->count; n-- > 0;) begin_with(&joined, native, m, p, n);
    }
    if (pairs) follow(m, pairs, count, ptx, native), align_rest(pairs, count, ptx, native);
    free(m);
    return pairs;
}
