// The table of requests (wire.def): what its rows may say together. That a row has a handler, a
// member that there is, and a cost, the compiler sees to; that both sides do as it says is
// programs/requests.c's to show.
#include "wire/row.h"
#include <criterion/criterion.h>
#include <string.h>

#define ROWS(row)                                                                                  \
    const WireRow *row = wire_row(0);                                                              \
    row < wire_row(0) + WIRE_OPERATION_COUNT;                                                      \
    row++

static bool has_member(const WireRow *row, const char *member)
{
    return strcmp(row->member, member) == 0;
}

Test(wire, every_request_has_a_name_of_its_own)
{
    for (ROWS(row)) {
        cr_assert(row->name && row->name[0], "a number below WIRE_OPERATION_COUNT has no row");
        for (ROWS(other))
            cr_expect(row == other || strcmp(row->name, other->name) != 0, "%s twice", row->name);
    }
}

// What the sender does not wait for has no answer that could say anything.
Test(wire, one_way_requests_ask_for_nothing)
{
    for (ROWS(row)) {
        cr_expect(row->one_way || !row->to_machine, "%s: the machine never answers", row->name);
        if (!row->one_way) continue;
        cr_expect(!row->reply_tail && !row->waits && !row->shows_prints && !row->trims_pools
                      && !row->issues && !row->after && !row->then && !row->after_host,
                  "%s gets no reply", row->name);
    }
}

// .copy.blocks, and slots, are the copies' own.
Test(wire, only_copies_may_block)
{
    for (ROWS(row)) {
        if (has_member(row, "copy")) continue;
        cr_expect(row->waits != WIRE_IF_BLOCKING && row->shows_prints != WIRE_IF_BLOCKING
                      && !row->slots && row->then != WIRE_THEN_DEFER_COPY,
                  "%s has no .copy", row->name);
    }
}

// Prints are shown, and pools trimmed, when the host has waited.
Test(wire, who_shows_prints_has_waited)
{
    for (ROWS(row)) {
        cr_expect(row->shows_prints <= row->waits, "%s shows prints", row->name);
        cr_expect(!row->trims_pools || row->waits == WIRE_ALWAYS, "%s trims pools", row->name);
        cr_expect(row->waits != WIRE_ALWAYS || row->after, "%s waits for nothing", row->name);
        cr_expect(!row->issues || row->waits != WIRE_ALWAYS, "%s issues and waits", row->name);
    }
}

// Who is deferred comes behind something; what works on memory in a stream, and what waits for host
// functions, is ordered.
Test(wire, work_is_ordered)
{
    for (ROWS(row)) {
        cr_expect(!row->then || row->after, "%s is deferred behind nothing", row->name);
        cr_expect(!row->after_host || row->after, "%s comes behind host functions only", row->name);
        cr_expect(!has_member(row, "copy") || (row->after == WIRE_AFTER_STREAM && row->after_host),
                  "%s is not in stream order", row->name);
        cr_expect(row->then == WIRE_THEN_WAIT || row->then == WIRE_THEN_NOT_READY
                      || row->after == WIRE_AFTER_STREAM || row->then == WIRE_THEN_DEFER_MARK,
                  "%s is deferred, and not in a stream", row->name);
    }
}
