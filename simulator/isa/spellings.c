// Opcodes that mean one row: what programs write in place of the table's name for it.
#include "isa.h"

#include <stdio.h>
#include <string.h>

// An opcode that ends in `suffix` may mean what it would with `instead`.
static const struct {
    const char *suffix, *instead;
} spellings[] = {
    { ".uni", "" },
    { "vote.ballot.sync.b32", "vote.sync.ballot.b32" },
    { "vote.any.sync.pred", "vote.sync.any.pred" },
    { "vote.all.sync.pred", "vote.sync.all.pred" },
    { "vote.uni.sync.pred", "vote.sync.uni.pred" },
    { ".rn.f32", ".f32" },
    { ".rn.ftz.f32", ".ftz.f32" },
    { ".rn.f64", ".f64" },
    { ".rn.f16", ".f16" },
    { ".rn.bf16", ".bf16" },
    { ".rn.f16x2", ".f16x2" },
    { ".rn.bf16x2", ".bf16x2" },
    { ".rn.sat.f32", ".sat.f32" },
    { ".rn.ftz.sat.f32", ".ftz.sat.f32" },
    { ".rn.ftz.f64", ".rn.f64" },
    { ".rn.sat.f16", ".sat.f16" },
    { ".rn.ftz.f16", ".ftz.f16" },
    { ".rn.ftz.sat.f16", ".ftz.sat.f16" },
    { ".rn.sat.f16x2", ".sat.f16x2" },
    { ".rn.ftz.f16x2", ".ftz.f16x2" },
    { ".rn.ftz.sat.f16x2", ".ftz.sat.f16x2" },
    { "cvt.rn.f32.f16", "cvt.f32.f16" },
    { "cvt.rn.f32.bf16", "cvt.f32.bf16" },
    { "cvt.f16.bf16", "cvt.rn.f16.bf16" },
    { "cvt.bf16.f16", "cvt.rn.bf16.f16" },
    { "barrier.sync.aligned", "bar.sync" },
    { "barrier.arrive.aligned", "bar.arrive" },
    { "barrier.red.and.aligned.pred", "bar.red.and.pred" },
    { "barrier.red.or.aligned.pred", "bar.red.or.pred" },
    { "barrier.red.popc.aligned.u32", "bar.red.popc.u32" },
    { "bar.cta.sync", "bar.sync" },
    { "barrier.cta.sync", "barrier.sync" },
    { "barrier.cta.sync.aligned", "bar.sync" },
    { "barrier.cta.arrive", "barrier.arrive" },
    { "barrier.cta.arrive.aligned", "bar.arrive" },
    { "barrier.cta.red.and.pred", "barrier.red.and.pred" },
    { "barrier.cta.red.or.pred", "barrier.red.or.pred" },
    { "barrier.cta.red.popc.u32", "barrier.red.popc.u32" },
    { "barrier.cta.red.and.aligned.pred", "bar.red.and.pred" },
    { "barrier.cta.red.or.aligned.pred", "bar.red.or.pred" },
    { "barrier.cta.red.popc.aligned.u32", "bar.red.popc.u32" },
    { "bar.cta.arrive", "bar.arrive" },
    { "bar.cta.red.and.pred", "bar.red.and.pred" },
    { "bar.cta.red.or.pred", "bar.red.or.pred" },
    { "bar.cta.red.popc.u32", "bar.red.popc.u32" },
    { "cluster.arrive.release", "cluster.arrive" },
    { "cluster.arrive.release.aligned", "cluster.arrive.aligned" },
    { "cluster.wait.acquire", "cluster.wait" },
    { "cluster.wait.acquire.aligned", "cluster.wait.aligned" },
    { "match.sync.any.b32", "match.any.sync.b32" },
    { "match.sync.any.b64", "match.any.sync.b64" },
};

// The kinds of createpolicy are one row; .relu and .satfinite stand in either order.
static const char *settled(const char *opcode, char *room, size_t size)
{
    if (!strncmp(opcode, "createpolicy.", 13)) return "createpolicy";
    const char *both = strstr(opcode, ".relu.satfinite.");
    if (!both || strlen(opcode) >= size) return opcode;
    snprintf(room, size, "%.*s.satfinite.relu%s", (int)(both - opcode), opcode, both + 15);
    return room;
}

const IsaRow *isa_find_spelled(const char *opcode, enum shape shape)
{
    char ordered[128], other[128];
    opcode = settled(opcode, ordered, sizeof ordered);
    const IsaRow *row = isa_find(opcode, shape);
    for (u32 n = 0; !row && n < sizeof spellings / sizeof *spellings; n++) {
        size_t whole = strlen(opcode), tail = strlen(spellings[n].suffix);
        if (whole < tail || strcmp(opcode + whole - tail, spellings[n].suffix)) continue;
        snprintf(other, sizeof other, "%.*s%s", (int)(whole - tail), opcode, spellings[n].instead);
        row = isa_find(other, shape);
    }
    return row;
}
