// Programs without races, from a seed: accesses at random to little memory, so that most would meet
// others; where one does, something that orders the two is put before it, in one of the many ways
// that there are. plan_spoil() takes one of these away.
#include <string.h>

#include "races.h"

const Kind kinds[KINDS] = {
#define OP(name, what, where, bytes, scope, order, ...)                                            \
    { #name, what, where, bytes, scope, order, __LINE__ },
#include "ops.def"
#undef OP
};

static u64 state;
static Plan *plan;
static u32 meetings, next_flag[1 + MOST_BLOCKS], next_barrier[MOST_BLOCKS], next_phase[MOST_BLOCKS];

static u32 below(u32 n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((state ^ state >> 29) >> 17) % n;
}

static bool chance(u32 percent) { return below(100) < percent; }

static void seed_with(u64 seed)
{
    state = seed * 0x9e3779b97f4a7c15ull + 12345;
    for (u32 n = 0; n < 8; n++) below(2);
}

static u32 block_of(u32 warp) { return warp / plan->warps; }
static bool same_cluster(u32 a, u32 b)
{
    return plan->cluster && block_of(a) / plan->cluster == block_of(b) / plan->cluster;
}

// ---- Events ----

static void add(u32 warp, u32 meeting, Op op)
{
    plan->event[plan->count++] = (Event){ warp, meeting, op };
}

static void happen(u32 from)
{
    while (from < plan->count) from = order_next(from, true);
}

static void add_alone(u32 warp, Op op)
{
    add(warp, 0, op);
    happen(plan->count - 1);
}

static void meet_lanes(u32 warp, u32 lanes)
{
    add_alone(warp, (Op){ .kind = WARP_BARRIER, .lanes = lanes });
}

// Of warps `first` up to `end`, those in `set`.
static void meet(u32 first, u32 end, u32 set, Op op)
{
    u32 from = plan->count;
    meetings++;
    op.lanes = ~0u;
    for (u32 w = first; w < end; w++)
        if (set >> (w - first) & 1) add(w, meetings, op);
    happen(from);
}

static void meet_block(u32 block)
{
    meet(block * plan->warps, (block + 1) * plan->warps, ~0u, (Op){ .kind = BARRIER });
}

// Each of these barriers has a number of its own, so that nobody comes to the wrong one.
static bool meet_some(u32 block, u32 set)
{
    if (next_barrier[block] == 15) return false;
    meet(block * plan->warps, (block + 1) * plan->warps, set,
         (Op){ .kind = PART_BARRIER,
               .rank = ++next_barrier[block],
               .value = (u32)__builtin_popcount(set) * LANES });
    return true;
}

static void meet_cluster(u32 block)
{
    u32 first = block / plan->cluster * plan->cluster, from = first * plan->warps,
        end = from + plan->cluster * plan->warps;
    Op op = { .kind = chance(30) ? CLUSTER_ARRIVE_RELAXED : CLUSTER_ARRIVE,
              .lanes = ~0u,
              .phase = ++next_phase[first] };
    for (u32 w = from; w < end; w++) {
        if (op.kind == CLUSTER_ARRIVE_RELAXED)
            add_alone(w, (Op){ .kind = FENCE_CLUSTER, .lanes = ~0u });
        add_alone(w, op);
    }
    op.kind = CLUSTER_WAIT;
    for (u32 w = from; w < end; w++) add_alone(w, op);
}

// ---- Handing over ----

// A scope that has both warps.
static u32 scope_for(u32 from, u32 to)
{
    u32 least = block_of(from) == block_of(to) ? CTA : same_cluster(from, to) ? CLUSTER : GPU;
    return least + below(GPU - least + 1);
}

static u32 fence_of(u32 scope) { return FENCE_CTA + scope - CTA; }

// A thread of one warp sets a flag, lanes of the other wait for it.
static bool hand_over(u32 from, u32 lane, u32 to, u32 lanes)
{
    u32 where = GLOBAL, home = block_of(from), base = SET_G_RELEASE_CTA;
    if (same_cluster(from, to) && chance(50))
        where = RANK, home = block_of(chance(50) ? from : to), base = SET_D_RELEASE_CTA;
    else if (block_of(from) == block_of(to) && chance(60)) where = OWN, base = SET_S_RELEASE_CTA;
    u32 *next = &next_flag[where == GLOBAL ? 0 : 1 + home],
        rank = plan->cluster ? home % plan->cluster : 0;
    if (*next + 4 > AREA) return false;
    u32 set = base + 4 * (scope_for(from, to) - CTA),
        await = base + 4 * (scope_for(from, to) - CTA) + 2;
    bool fence_before = chance(50), fence_behind = chance(50);
    if (fence_before)
        add_alone(from, (Op){ .kind = fence_of(scope_for(from, to)), .lanes = 1u << lane });
    add_alone(from, (Op){ .kind = set + fence_before,
                          .lanes = 1u << lane,
                          .base = *next,
                          .value = 1,
                          .rank = rank });
    add_alone(to, (Op){ .kind = await + fence_behind,
                        .lanes = lanes,
                        .base = *next,
                        .value = 1,
                        .rank = rank });
    if (fence_behind) add_alone(to, (Op){ .kind = fence_of(scope_for(from, to)), .lanes = lanes });
    *next += 4;
    return true;
}

static bool hand_over_mbarrier(u32 from, u32 lanes, u32 to)
{
    u32 home = block_of(to), *next = &next_flag[1 + home];
    bool far = block_of(from) != home;
    *next = (*next + 7) & ~7u;
    if (*next + 8 > AREA || plan->mbarriers == MOST_MBARRIERS) return false;
    plan->mbarrier[plan->mbarriers++] = (Mbarrier){ *next, (u32)__builtin_popcount(lanes), home };
    add_alone(from, (Op){ .kind = far ? MBARRIER_ARRIVE_FAR : MBARRIER_ARRIVE,
                          .lanes = lanes,
                          .base = *next,
                          .rank = far ? home % plan->cluster : 0 });
    add_alone(to,
              (Op){ .kind = far ? MBARRIER_WAIT_FAR : MBARRIER_WAIT, .lanes = ~0u, .base = *next });
    *next += 8;
    return true;
}

// Puts what that thread has done before what these lanes of the warp do next, most of the time.
static void put_in_order(u32 thread, u32 to, u32 lanes)
{
    u32 from = thread / LANES, lane = thread % LANES;
    bool same = block_of(from) == block_of(to), near = same_cluster(from, to), some = chance(30);
    if (from == to && chance(70)) {
        meet_lanes(from, chance(60) ? ~0u : lanes | 1u << lane);
    } else if (same && (from == to || !plan->flags || chance(30))) {
        u32 set = 1u << from % plan->warps | 1u << to % plan->warps | below(1u << plan->warps);
        if (chance(60) || !meet_some(block_of(from), set)) meet_block(block_of(from));
    } else if (plan->flags && near && chance(30)) {
        meet_cluster(block_of(from));
    } else if (plan->cooperative && chance(25)) {
        meet(0, plan->blocks * plan->warps, ~0u, (Op){ .kind = GRID_BARRIER });
    } else if (plan->flags && (same || near) && chance(30)) {
        if (some) meet_lanes(from, ~0u);
        hand_over_mbarrier(from, some ? 1u << lane : ~0u, to);
    } else if (plan->flags) {
        bool blocks = !same && chance(30), all = chance(30);
        if (blocks) meet_block(block_of(from));
        else if (chance(70)) meet_lanes(from, ~0u), lane = below(LANES);
        if (!hand_over(from, lane, to, all ? ~0u : 1u << below(LANES))) return;
        if (blocks) meet_block(block_of(to));
        else if (!all) meet_lanes(to, ~0u);
    }
}

// ---- Accesses ----

static bool find_place(Op *op, u32 bytes)
{
    const int strides[] = { (int)bytes,
                            (int)bytes,
                            (int)bytes,
                            0,
                            -(int)bytes,
                            2 * (int)bytes,
                            (int)bytes * (int)below(5) };
    const u32 room = chance(50) ? 64 : DATA;
    int low = 1 << 20, high = -low;
    op->stride = strides[below(7)];
    for (int l = 0; l < LANES; l++) {
        if (!(op->lanes >> l & 1)) continue;
        if (l * op->stride < low) low = l * op->stride;
        if (l * op->stride + (int)bytes > high) high = l * op->stride + (int)bytes;
    }
    u32 span = (u32)(high - low), all = span > room ? DATA : room;
    if (span > DATA) return false;
    op->base = below((all - span) / bytes + 1) * bytes - (u32)low;
    return true;
}

static bool is_plain(const Kind *k) { return k->scope == WEAK && k->where != RANK; }

static bool find_access(Event *e)
{
    u32 lanes[] = { ~0u,
                    ~0u,
                    ~0u >> below(32),
                    0x55555555u << below(2),
                    below(1u << 31) & below(1u << 31),
                    1u << below(LANES) };
    *e = (Event){ below(plan->blocks * plan->warps),
                  0,
                  { .kind = below(ADD_D4_CLUSTER + 1),
                    .lanes = lanes[below(6)],
                    .value = below(1u << 31),
                    .rank = plan->cluster ? below(plan->cluster) : 0,
                    .how = BY_LANE } };
    const Kind *k = &kinds[e->op.kind];
    if (!e->op.lanes || (!plan->flags && !is_plain(k)) || (k->where == RANK && !plan->cluster))
        return false;
    if (k->what == LOAD && k->scope == WEAK) e->op.how = SUMS;
    return find_place(&e->op, k->bytes);
}

static void choose_shape(bool flags)
{
    *plan = (Plan){ .blocks = 1u << below(3), .warps = 1 + below(3), .flags = flags };
    if (plan->blocks * plan->warps > MOST_WARPS) plan->warps = MOST_WARPS / plan->blocks;
    if (flags && plan->blocks > 1 && chance(50))
        plan->cluster = plan->blocks == 4 && chance(50) ? 4 : 2;
    plan->cooperative =
        flags
        && (plan->cluster ? plan->cluster < plan->blocks
                          : plan->blocks > 1 || chance(50)); // they wait for each other
    meetings = 0;
    memset(next_barrier, 0, sizeof next_barrier);
    memset(next_phase, 0, sizeof next_phase);
    for (u32 n = 0; n < 1 + MOST_BLOCKS; n++) next_flag[n] = FLAGS_FROM;
}

// Others read the same, so that a store there has to come behind them all.
static void read_too(const Event *first)
{
    u32 thread;
    for (u32 w = 0; w < plan->blocks * plan->warps; w++) {
        Event e = *first;
        e.warp = w;
        bool there = kinds[e.op.kind].where != RANK || same_cluster(w, first->warp);
        if (w != first->warp && there && chance(60) && order_allows(&e, &thread))
            add_alone(w, e.op);
    }
}

void plan_make(Plan *p, u64 seed, bool flags)
{
    enum { TRIES = 600, ROOM = 100 }; // what putting one access in order may take
    seed_with(seed);
    plan = p;
    choose_shape(flags);
    order_start(plan);
    u32 wanted = 6 + below(40), thread;
    for (u32 tries = 0; wanted && tries < TRIES && plan->count + ROOM < MOST_EVENTS; tries++) {
        Event e;
        if (!find_access(&e)) continue;
        for (u32 rounds = chance(60) ? 5 : 0; rounds && !order_allows(&e, &thread); rounds--)
            put_in_order(thread, e.warp, e.op.lanes);
        if (!order_allows(&e, &thread)) continue;
        add_alone(e.warp, e.op);
        if (kinds[e.op.kind].what == LOAD && chance(20)) read_too(&e);
        wanted--;
    }
}

// ---- Taking something away ----

static void take_away(u32 index)
{
    const Event gone = plan->event[index];
    u32 kept = 0;
    for (u32 n = 0; n < plan->count; n++)
        if (n != index && (!gone.meeting || plan->event[n].meeting != gone.meeting))
            plan->event[kept++] = plan->event[n];
    plan->count = kept;
}

const char *plan_spoil(Plan *p, u64 seed, bool *whole)
{
    u32 can[4 * MOST_EVENTS], count = 0;
    seed_with(~seed);
    plan = p;
    for (u32 n = 0; n < plan->count; n++) {
        const Op *op = &plan->event[n].op;
        const enum what what = kinds[op->kind].what;
        if (what <= ADD || (what == ARRIVE && op->kind != CLUSTER_ARRIVE)) continue;
        for (u32 times = what == FENCE ? 4 : 1; times; times--)
            can[count++] = n; // fences are few, and much hangs on them
    }
    if (!count) return NULL;
    u32 index = can[below(count)];
    Op *op = &plan->event[index].op;
    const Kind *k = &kinds[op->kind];
    *whole = false;
    if (op->kind == CLUSTER_ARRIVE) {
        op->kind = CLUSTER_ARRIVE_RELAXED;
    } else if ((k->what == SET || k->what == WAIT) && k->scope != CTA && chance(50)) {
        op->kind -= 4 * (k->scope - CTA); // for the block alone
    } else if (op->kind == CLUSTER_WAIT || (k->what == SET && k->order == RELAXED)) {
        return NULL;
    } else if (k->what == SET || (k->what == WAIT && k->order == ACQUIRE && chance(60))) {
        op->kind++; // relaxed
    } else if (k->what == FENCE && k->scope != CTA && chance(50)) {
        op->kind = FENCE_CTA;
    } else {
        *whole = k->what != FENCE;
        take_away(index);
    }
    return k->name;
}
