// Which accesses of a program come before which (PTX memory consistency model): vector clocks over
// threads. Beside them the same over warps, in which all lanes know what one has learnt, as the
// simulator has it: what these do not order it must see.
#include <string.h>

#include "races.h"

typedef struct Clock {
    u32 of[MOST_THREADS];
} Clock; // by thread, or warp: up to which of its ticks what it did is known
typedef struct Message {
    bool there[SYS];
    Clock clock[SYS];
    u32 warp;
    enum scope scope;
} Message; // of a flag: by the scope of what released it
typedef struct Gathering {
    u32 space, at, phase;
    Clock clock;
} Gathering; // at a barrier at which one arrives, and then waits

typedef struct Clocks {
    bool of_warps;
    Clock known[MOST_THREADS], fenced[SYS][MOST_THREADS];
    u32 tick[MOST_THREADS];
    bool has_fenced[SYS][MOST_THREADS];
    Message message[MOST_EVENTS]; // by the event that set the flag
    u32 pending[MOST_THREADS][MOST_EVENTS],
        pending_count[MOST_THREADS]; // those that it has read, with no fence behind that
    Gathering gathering[MOST_EVENTS];
    u32 gatherings;
} Clocks;

typedef struct Touch {
    u32 thread, tick, warp_tick, event, next;
} Touch; // of a byte

enum { SPACES = 1 + MOST_BLOCKS, MOST_TOUCHES = 1 << 20, MOST_RACES = 4096 };
static const Plan *plan;
static Clocks clocks[2];
static Touch touches[MOST_TOUCHES];
static u32 touch_count, latest[SPACES][AREA];
static u32 set_by[SPACES][AREA]; // the event that set a flag there
static u8 memory[SPACES][AREA];
static u32 sums[MOST_THREADS];
static Race found[MOST_RACES];
static u32 race_count;

void order_start(const Plan *p)
{
    plan = p;
    memset(clocks, 0, sizeof clocks);
    memset(latest, 0, sizeof latest);
    memset(memory, 0, sizeof memory);
    memset(sums, 0, sizeof sums);
    touch_count = 1;
    race_count = 0;
    clocks[1].of_warps = true;
    for (u32 n = 0; n < MOST_THREADS; n++) clocks[0].tick[n] = clocks[1].tick[n] = 1;
}

// ---- Clocks ----

static void join(Clock *to, const Clock *from)
{
    for (u32 n = 0; n < MOST_THREADS; n++)
        if (from->of[n] > to->of[n]) to->of[n] = from->of[n];
}

static Clock now(const Clocks *c, u32 unit)
{
    Clock all = c->known[unit];
    all.of[unit] = c->tick[unit];
    return all;
}

static u32 unit_of(const Clocks *c, u32 warp, u32 lane)
{
    return c->of_warps ? warp : warp * LANES + lane;
}
static u32 warp_of(const Clocks *c, u32 unit) { return c->of_warps ? unit : unit / LANES; }

static bool covers(enum scope s, u32 warp, u32 other)
{
    u32 a = warp / plan->warps, b = other / plan->warps, size = plan->cluster ? plan->cluster : 1;
    return s >= GPU || (s == CLUSTER ? a / size == b / size : a == b);
}

static void learn(Clocks *c, u32 unit, const Message *m, enum scope s)
{
    for (u32 first = CTA; first < SYS; first++)
        if (m->there[first] && covers((enum scope)first, m->warp, warp_of(c, unit))
            && covers(s, m->warp, warp_of(c, unit)))
            join(&c->known[unit], &m->clock[first]);
}

static void fence(Clocks *c, u32 unit, enum scope s)
{
    for (u32 reach = CTA; reach <= s; reach++)
        c->fenced[reach][unit] = now(c, unit), c->has_fenced[reach][unit] = true;
    for (u32 n = 0; n < c->pending_count[unit]; n++)
        learn(c, unit, &c->message[c->pending[unit][n]], s);
    c->tick[unit]++;
}

static void set(Clocks *c, u32 unit, u32 event, const Kind *k)
{
    Message *m = &c->message[event];
    *m = (Message){ .warp = warp_of(c, unit), .scope = k->scope };
    for (u32 s = CTA; s < SYS; s++) {
        if (c->has_fenced[s][unit]) m->there[s] = true, join(&m->clock[s], &c->fenced[s][unit]);
        if (k->order != RELEASE || s != k->scope) continue;
        const Clock all = now(c, unit);
        m->there[s] = true;
        join(&m->clock[s], &all);
    }
    c->tick[unit]++;
}

static void wait(Clocks *c, u32 unit, u32 setter, const Kind *k)
{
    const Message *m = &c->message[setter];
    if (!covers(k->scope, m->warp, warp_of(c, unit))
        || !covers(m->scope, m->warp, warp_of(c, unit)))
        return;
    if (k->order == ACQUIRE) learn(c, unit, m, k->scope);
    else c->pending[unit][c->pending_count[unit]++] = setter;
}

// The block's barrier is worth a fence behind what its warps have read: so the simulator has it.
static void settle(Clocks *c, u32 unit)
{
    for (u32 n = 0; c->of_warps && n < c->pending_count[unit]; n++)
        learn(c, unit, &c->message[c->pending[unit][n]], GPU);
}

static void meet(Clocks *c, const u32 *units, u32 count)
{
    Clock all = { { 0 } };
    for (u32 n = 0; n < count; n++) {
        settle(c, units[n]);
        const Clock one = now(c, units[n]);
        join(&all, &one);
    }
    for (u32 n = 0; n < count; n++) {
        join(&c->known[units[n]], &all);
        c->tick[units[n]]++;
    }
}

static Gathering *gathering_at(Clocks *c, u32 space, u32 at, u32 phase)
{
    for (u32 n = 0; n < c->gatherings; n++) {
        Gathering *g = &c->gathering[n];
        if (g->space == space && g->at == at && g->phase == phase) return g;
    }
    c->gathering[c->gatherings] = (Gathering){ .space = space, .at = at, .phase = phase };
    return &c->gathering[c->gatherings++];
}

static void gather(Clocks *c, u32 unit, Gathering *g, const Kind *k)
{
    const Clock all = now(c, unit);
    if (k->what == AWAIT) {
        join(&c->known[unit], &g->clock);
        return;
    }
    if (k->order == RELEASE) join(&g->clock, &all);
    for (u32 s = CLUSTER; s < SYS && k->order != RELEASE; s++) join(&g->clock, &c->fenced[s][unit]);
    c->tick[unit]++;
}

// ---- Events ----

static u32 space_of(const Event *e)
{
    u32 block = e->warp / plan->warps;
    switch (kinds[e->op.kind].where) {
    case OWN: return 1 + block;
    case RANK: return 1 + block / plan->cluster * plan->cluster + e->op.rank;
    default: return 0;
    }
}

static bool writes(const Kind *k) { return k->what == STORE || k->what == ADD || k->what == SET; }
static u32 place_of(const Event *e, u32 lane) { return e->op.base + lane * (u32)e->op.stride; }

#define EACH_LANE(lane, lanes)                                                                     \
    for (u32 rest_ = (lanes), lane; rest_ && (lane = (u32)__builtin_ctz(rest_), true);             \
         rest_ &= rest_ - 1)

// Two accesses to one byte that are a race if nothing orders them. `strictly`: of those that are
// not, what is loaded or left is known as well.
static bool conflict(const Event *a, const Event *b, bool strictly)
{
    const Kind *x = &kinds[a->op.kind], *y = &kinds[b->op.kind];
    if (!writes(x) && !writes(y)) return false;
    bool strong = x->scope && y->scope && covers(x->scope, a->warp, b->warp)
               && covers(y->scope, a->warp, b->warp);
    return !strong || (strictly && (x->what != ADD || y->what != ADD));
}

static void note_race(u32 first, u32 second, bool sure)
{
    for (u32 n = 0; n < race_count; n++)
        if (found[n].first == first && found[n].second == second) {
            found[n].sure |= sure;
            return;
        }
    if (race_count < MOST_RACES) found[race_count++] = (Race){ first, second, sure };
}

static void order_units(Clocks *c, u32 index, u32 end)
{
    const Event *e = &plan->event[index];
    const Kind *k = &kinds[e->op.kind];
    u32 units[MOST_THREADS], count = 0;
    for (u32 n = index; n < end; n++)
        if (c->of_warps) units[count++] = plan->event[n].warp;
        else
            EACH_LANE (l, plan->event[n].op.lanes)
                units[count++] = unit_of(c, plan->event[n].warp, l);
    if (k->what == MEET || (k->what == MEET_LANES && !c->of_warps)) meet(c, units, count);
    if (k->what == MEET || k->what == MEET_LANES) return;
    const u32 setter = k->what == WAIT ? set_by[space_of(e)][e->op.base] : index;
    if (setter != index && conflict(&plan->event[setter], e, false)) note_race(setter, index, true);
    const bool of_cluster = k->where == NOWHERE;
    Gathering *g = k->what >= ARRIVE ? gathering_at(
                       c, of_cluster ? SPACES + e->warp / plan->warps / plan->cluster : space_of(e),
                       e->op.base, e->op.phase)
                                     : NULL;
    for (u32 n = 0; n < count; n++) {
        if (g) gather(c, units[n], g, k);
        else if (k->what == FENCE) fence(c, units[n], k->scope);
        else if (k->what == SET) set(c, units[n], index, k);
        else wait(c, units[n], setter, k);
    }
}

static bool comes_before(const Touch *t, u32 thread, bool of_threads)
{
    if (t->thread == thread || t->tick <= clocks[0].known[thread].of[t->thread]) return true;
    return !of_threads && t->warp_tick <= clocks[1].known[thread / LANES].of[t->thread / LANES];
}

static void touch(u32 index, u32 lane, u32 space, u32 at, bool forget)
{
    const Event *e = &plan->event[index];
    const u32 thread = e->warp * LANES + lane;
    bool over = writes(&kinds[e->op.kind]) && !kinds[e->op.kind].scope;
    for (u32 n = latest[space][at]; n; n = touches[n].next) {
        const Touch *t = &touches[n];
        const bool same = t->event == index, before = !same && comes_before(t, thread, true);
        over &= before;
        if (!before && conflict(&plan->event[t->event], e, false))
            note_race(t->event, index, same || !comes_before(t, thread, false));
    }
    if (forget && over) latest[space][at] = 0;
    touches[touch_count] = (Touch){ thread, clocks[0].tick[thread], clocks[1].tick[e->warp], index,
                                    latest[space][at] };
    latest[space][at] = touch_count++;
}

static void move_values(const Event *e, const Kind *k, u32 lane, u8 *m)
{
    u32 *sum = &sums[e->warp * LANES + lane],
        v = e->op.value + (e->op.how & BY_LANE ? lane * 0x01010101u : 0), x = 0;
    for (u32 at = 0; at < k->bytes; at += 4, v++) {
        u32 bytes = k->bytes < 4 ? k->bytes : 4;
        memcpy(&x, m + at, bytes);
        if (k->what == LOAD && e->op.how & SUMS) *sum = *sum * 33 + x;
        if (k->what == ADD) x += v;
        if (k->what == STORE) x = v;
        if (writes(k)) memcpy(m + at, &x, bytes);
    }
}

u32 order_next(u32 index, bool forget)
{
    const Event *e = &plan->event[index];
    const Kind *k = &kinds[e->op.kind];
    u32 end = index + 1;
    while (e->meeting && end < plan->count && plan->event[end].meeting == e->meeting) end++;
    if (k->what == SET) set_by[space_of(e)][e->op.base] = index;
    if (k->what > ADD) {
        for (u32 n = 0; n < 2; n++) order_units(&clocks[n], index, end);
        return end;
    }
    EACH_LANE (l, e->op.lanes)
        for (u32 n = 0; n < k->bytes; n++) touch(index, l, space_of(e), place_of(e, l) + n, forget);
    EACH_LANE (l, e->op.lanes) move_values(e, k, l, &memory[space_of(e)][place_of(e, l)]);
    return end;
}

bool order_allows(const Event *e, u32 *thread)
{
    const Kind *k = &kinds[e->op.kind];
    bool taken[AREA] = { false };
    EACH_LANE (l, e->op.lanes)
        for (u32 n = 0, at = place_of(e, l); n < k->bytes; n++, at++) {
            *thread = e->warp * LANES + l;
            if (k->what == STORE && taken[at]) return false;
            taken[at] = true;
            for (u32 t = latest[space_of(e)][at]; t; t = touches[t].next) {
                if (comes_before(&touches[t], e->warp * LANES + l, true)
                    || !conflict(&plan->event[touches[t].event], e, true))
                    continue;
                *thread = touches[t].thread;
                return false;
            }
        }
    return true;
}

u32 order_races(Race *races, u32 most)
{
    u32 count = race_count < most ? race_count : most;
    memcpy(races, found, count * sizeof *races);
    return count;
}

u32 order_sum(u32 thread) { return sums[thread]; }
u8 order_byte(u32 at) { return memory[0][at]; }
