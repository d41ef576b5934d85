// The handlers of copies and fills.

#include "model/caches.h"
#include "model/carried.h"
#include "streams/clock.h"
#include "model/flight.h"
#include "model/managed.h"
#include "memory/memory.h"
#include "memory/writer.h"
#include "model/link.h"
#include "streams/peer.h"
#include "streams/pooled.h"
#include "activity.h"
#include "machine/profile.h"
#include "checks/race.h"
#include "checks/undefined.h"
#include "range.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report_too_early(const Call *call, const Allocation *a)
{
    Report report = { .cause = CAUSE_call_uses_before_allocation,
                      .place = serve_place(call),
                      .call = call->request.call,
                      .address = a->base,
                      .allocation = a };
    report_error(&report);
}

// What the host says by where a copy or fill goes on the device.
static void note_operation(const Call *call)
{
    const WireRequest *r = &call->request;
    const WireRow *row = wire_row(r->op);
    if (call->by_owner || row->slots == WIRE_SLOTS_OUT) return;
    enum { WORDS = 10 };
    u64 where[WORDS / 2] = { r->copy.device.address, r->copy.device.pitch, r->copy.width,
                             r->copy.rows, row->slots ? 0 : r->copy.from.address };
    u32 words[WORDS];
    memcpy(words, where, sizeof words);
    carried_operation(row, words, WORDS);
}

// Begins a copy or fill of one or two allocations.
static void begin(const Call *call, const Allocation *a, const Allocation *b)
{
    u64 operation = clock_operation(call->request.stream);
    carried_look();
    note_operation(call);
    Operation transfer = { .number = operation };
    snprintf(transfer.call, sizeof transfer.call, "%s", call->request.call);
    memcpy(transfer.callers, call->request.caller, sizeof transfer.callers);
    race_transfer(&transfer, !call->request.copy.blocks);
    if (!pooled_use(a, operation)) report_too_early(call, a);
    else if (b && !pooled_use(b, operation)) report_too_early(call, b);
}

// The rows of a valid copy or fill, in all slices; and where row n begins.
static u64 row_count(const Call *call)
{
    return call->request.copy.rows * call->request.copy.slices;
}

static u64 row_at(const Call *call, const WireBox *box, u64 row)
{
    u64 rows = call->request.copy.rows;
    return box->address + row / rows * box->slice + row % rows * box->pitch;
}

// ---- Definedness ----

static bool bit_of(const u64 *bits, u64 address)
{
    u64 bit = address - MEMORY_BASE;
    return bits[bit / 64] >> bit % 64 & 1;
}

static bool is_defined(u64 address) { return bit_of(memory_defined_bits, address); }

static void copy_bit(u64 *bits, u64 to, u64 from)
{
    u64 bit = to - MEMORY_BASE, mask = 1ull << bit % 64;
    bits[bit / 64] = bit_of(bits, from) ? bits[bit / 64] | mask : bits[bit / 64] & ~mask;
}

// A copy on the device also copies which bytes are defined: were ever written.
static void copy_defined(u64 to, u64 from, u64 bytes)
{
    if (memory_undefined(from, bytes) == bytes) {
        memory_define(to, bytes);
        return;
    }
    bool backwards = to > from;
    for (u64 i = 0; i < bytes; i++) {
        u64 at = backwards ? bytes - 1 - i : i;
        copy_bit(memory_defined_bits, to + at, from + at);
        copy_bit(memory_computed_bits, to + at, from + at);
    }
}

// How many of the `bytes` from `address` on are undefined, up to the first that is defined.
static u64 undefined_run(u64 address, u64 bytes)
{
    u64 run = 0;
    while (run < bytes && !is_defined(address + run)) run++;
    return run;
}

static bool is_padding(u64 address, u64 bytes)
{
    for (u64 n = 0; n < ALIGNMENTS; n++)
        if (bytes <= undefined_padding[n] && (address + bytes) % (1u << n) == 0) return true;
    return false;
}

// Adds what made the bytes undefined, if that is known.
static void fill_taint(Report *r, bool computed)
{
    const UndefinedOrigin *t = &undefined_origin;
    bool known = computed && t->line && (t->shuffled || !t->several);
    r->undefined = !computed            ? UNDEFINED_UNWRITTEN
                 : known && t->shuffled ? UNDEFINED_SHUFFLED
                                        : UNDEFINED_COMPUTED;
    r->cause = !computed   ? CAUSE_copy_of_unwritten
             : !known      ? CAUSE_copy_of_computed
             : t->shuffled ? CAUSE_copy_of_shuffled
                           : CAUSE_copy_of_computed_at;
    if (!known) return;
    r->detail = t->file;
    r->number[0] = (ReportNumber){ "source_line", t->line };
}

static void report_undefined(const Call *call, const Allocation *a, u64 first, u64 undefined)
{
    Report report = { .place = serve_place(call),
                      .call = call->request.call,
                      .access = ACCESS_READ,
                      .address = first,
                      .allocation = a,
                      .undefined_bytes = undefined };
    fill_taint(&report, bit_of(memory_computed_bits, first));
    report_error(&report);
}

// Reports the undefined bytes of the box.
static void check_defined(const Call *call, const Allocation *a)
{
    u64 undefined = 0, first = 0, width = call->request.copy.width;
    for (u64 row = 0; row < row_count(call); row++) {
        u64 address = row_at(call, &call->request.copy.device, row);
        u64 at = memory_undefined(address, width);
        for (u64 run; at < width; at += run, at += memory_undefined(address + at, width - at)) {
            run = undefined_run(address + at, width - at);
            if (is_padding(address + at, run)) continue;
            if (!undefined) first = address + at;
            undefined += run;
        }
    }
    if (undefined) report_undefined(call, a, first, undefined);
}

// Checks the box that a copy or fill reads or stores to for races with work of other streams.
static void look_for_races(const Call *call, const WireBox *box, bool store)
{
    for (u64 row = 0; row < row_count(call); row++)
        race_range(row_at(call, box, row), call->request.copy.width, store);
}

// ---- Copying ----

// Is the chunk within its transfer and its slot?
static bool chunk_good(const Call *call)
{
    const WireChunk *chunk = &call->request.copy.chunk;
    u64 total;
    return !__builtin_mul_overflow(call->request.copy.width, call->request.copy.rows, &total)
        && !__builtin_mul_overflow(total, call->request.copy.slices, &total)
        && chunk->total == total && chunk->slot < WIRE_SLOTS && chunk->bytes <= WIRE_SLOT_BYTES
        && chunk->offset <= total && chunk->bytes <= total - chunk->offset;
}

static double copy_ns(const Call *call, u64 bytes, bool in)
{
    double speed = call->request.copy.pinned
                     ? in ? profile.copy_bytes_per_second : profile.copy_back_bytes_per_second
                 : in ? profile.pageable_bytes_per_second
                      : profile.pageable_back_bytes_per_second;
    return ((in ? profile.copy_seconds : profile.copy_back_seconds) + (double)bytes / speed) * 1e9;
}

// What a copy brings to the host. False: who wrote it is not kept.
static bool describe_back(const Call *call, CopyReport *back)
{
    const WireRequest *r = &call->request;
    if (!writers) return false;
    writer_count(r->copy.device.address, r->copy.width, back->words);
    return true;
}

static bool is_one_piece_back(const Call *call)
{
    return wire_row(call->request.op)->slots == WIRE_SLOTS_OUT && row_count(call) == 1;
}

// The bytes that the program's copies have moved to the host (0) and to the device (1) and that no
// report has told. A copy is told at its last chunk, which a program may never send.
static u64 untold[2];

static void tell_end(bool in, u64 bytes) { untold[in] -= bytes < untold[in] ? bytes : untold[in]; }

void transfer_tell_unfinished(void)
{
    if (untold[true]) report_copy("HtoD", untold[true], NULL);
    if (untold[false]) report_copy("DtoH", untold[false], NULL);
    untold[true] = untold[false] = 0;
}

// At the last chunk: advances the stream's clock by the copy's time, and records the copy.
static void finish_copy(const Call *call, const char *kind, enum engine engine, double ns)
{
    u64 bytes = call->request.copy.width * row_count(call);
    bool bus = engine != ENGINE_NONE;
    char name[64];
    bool waits =
        call->request.copy.blocks || (engine == ENGINE_COPY_OUT && !call->request.copy.pinned);
    clock_work(call->request.stream, engine, 1, ns, waits);
    if (call->by_owner) return; // the program has not made it
    CopyReport back = { .to = call->request.copy.from.address };
    report_copy(kind, bytes, is_one_piece_back(call) && describe_back(call, &back) ? &back : NULL);
    snprintf(name, sizeof name, "Memcpy %s%s", kind,
             !bus                        ? ""
             : call->request.copy.pinned ? " (pinned)"
                                         : " (pageable)");
    activity_work(call->request.stream, "copy", name, ns, bytes);
}

// The bytes of the program's chunk, which no thread of its can change any more.
static u8 *settled(const u8 *slot, u64 bytes)
{
    static u8 own[WIRE_SLOT_BYTES];
    return memcpy(own, slot, bytes);
}

// Copies the chunk, row by row, between the box of device memory and its slot, or Call.data if the
// copy is deferred.
static void move_chunk(const Call *call, bool in)
{
    const WireBox *box = &call->request.copy.device;
    const WireChunk *chunk = &call->request.copy.chunk;
    u64 width = call->request.copy.width, offset = chunk->offset, left = chunk->bytes;
    u8 *slot = call->data ? call->data : device.staging + (u64)chunk->slot * WIRE_SLOT_BYTES;
    if (in && writers && !call->by_owner) {
        if (!call->data) slot = settled(slot, left);
        carried_in(slot, left);
    }
    while (left) {
        u64 column = offset % width, piece = width - column < left ? width - column : left;
        u64 address = row_at(call, box, offset / width) + column;
        if (in) {
            memcpy((void *)address, slot, piece);
            memory_define(address, piece);
            writer_set(address, piece, call->by_owner ? WRITER_OWNER : WRITER_HOST);
            managed_written(address, piece, call->request.device);
            caches_written(address, piece);
        } else {
            memcpy(slot, (void *)address, piece);
            if (!call->by_owner) carried_out(address, piece);
        }
        slot += piece;
        offset += piece;
        left -= piece;
    }
}

// CUDA's runtime reads pageable memory before it returns, through a buffer of 64 KiB. So a larger
// copy to the device occupies the host nearly as long as it takes. A copy to pageable memory is
// complete when the call returns.
static void finish_copy_chunks(const Call *call, bool in)
{
    enum { STAGED_AT_ONCE = 64 << 10 };
    const WireRequest *request = &call->request;
    u64 bytes = request->copy.chunk.total;
    if (!call->by_owner) tell_end(in, bytes);
    finish_copy(call, in ? "HtoD" : "DtoH", in ? ENGINE_COPY_IN : ENGINE_COPY_OUT,
                copy_ns(call, bytes, in));
    double end = clock_stream_end(request->stream);
    bool waits = !request->copy.pinned && in && bytes > STAGED_AT_ONCE;
    if (waits && end > clock_now()) clock_host(end - clock_now());
}

static void copy_chunk(Call *call, bool in)
{
    const WireChunk *chunk = &call->request.copy.chunk;
    if (!chunk_good(call)) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    Allocation *a =
        range_check_box(call, in ? ACCESS_WRITE : ACCESS_READ, &call->request.copy.device);
    if (!a
        || (chunk->offset == 0
            && !range_check_host(call, in ? ACCESS_READ : ACCESS_WRITE, &call->request.copy.from)))
        return;
    if (chunk->offset == 0) {
        begin(call, a, NULL);
        look_for_races(call, &call->request.copy.device, in);
    }
    if (!in && chunk->offset == 0) check_defined(call, a);
    move_chunk(call, in);
    if (!call->by_owner) untold[in] += chunk->bytes;
    if (chunk->offset + chunk->bytes == chunk->total) finish_copy_chunks(call, in);
}

static bool is_hosts(const Allocation *a) { return a->kind == MEMORY_PINNED_HOST; }

static bool are_peers(const Allocation *a, const Allocation *b)
{
    return a->device != b->device && peer_is_private(a) && peer_is_private(b);
}

static void finish_peer_copy(const Call *call, u32 from, u32 to)
{
    u64 bytes = call->request.copy.width * row_count(call), stream = call->request.stream;
    bool link = peer_linked(from, to);
    double ns = link_copy_seconds(from, to, bytes) * 1e9;
    clock_work_between(stream, from, to, link, ns, call->request.copy.blocks);
    report_copy("PtoP", bytes, NULL);
    LinkReport moved = { from, to, bytes };
    double end = clock_stream_end(stream);
    report_work("copy", from, -1, end - ns, end, !link, &moved, 1);
    activity_work(stream, "copy", "Memcpy PtoP", ns, bytes);
}

// A row of a copy whose ends the device reaches itself. Of pinned memory its bytes come from the
// host or go there, whatever the copy was called and whoever made it.
static void move_row(u64 to, const Allocation *target, u64 from, const Allocation *source,
                     u64 width)
{
    bool in = is_hosts(source) && !is_hosts(target), out = is_hosts(target) && !is_hosts(source);
    flight_reach(from, width);
    flight_reach(to, width);
    memmove((void *)to, (void *)from, width);
    copy_defined(to, from, width);
    writer_copy(to, from, width);
    if (in && writers) carried_in((void *)to, width); // what has arrived, no thread can change
    if (in) writer_set(to, width, WRITER_HOST);
    if (out) carried_out(from, width);
}

static void finish_device_copy(Call *call, const Allocation *target, const Allocation *source)
{
    u64 bytes = call->request.copy.width * row_count(call);
    if (is_hosts(source) != is_hosts(target)) {
        bool in = is_hosts(source);
        call->request.copy.pinned = true;
        finish_copy(call, in ? "HtoD" : "DtoH", in ? ENGINE_COPY_IN : ENGINE_COPY_OUT,
                    copy_ns(call, bytes, in));
        return;
    }
    double both = 2.0 * (double)bytes; // every byte is read and written
    finish_copy(call, "DtoD", ENGINE_NONE,
                (profile.device_copy_seconds + both / profile.dram_bytes_per_second) * 1e9);
}

// Is it a good part of an array, whose rows only get padding, or lose it?
static bool is_padding_copy(const WireRequest *r, u64 bytes, u64 least)
{
    enum { PITCH = 512, PARTS = 16 }; // the pitch that cudaMallocPitch gives to short rows
    return r->copy.slices == 1 && r->copy.device.pitch <= PITCH && r->copy.from.pitch <= PITCH
        && bytes >= least / PARTS;
}

// Small pieces, each of which the copy takes to a place of its own, are arranged anew by it.
static void note_small(const WireRequest *r, const Allocation *a, const Allocation *b)
{
    enum { PIECE = 16 };
    u64 bytes = r->copy.width * r->copy.rows * r->copy.slices;
    u64 piece = r->copy.rows * r->copy.slices > 1 ? r->copy.width : bytes;
    if (writers && piece < PIECE
        && !is_padding_copy(r, bytes, a->size < b->size ? a->size : b->size))
        report_crossing(CROSSING_SMALL, bytes);
}

void transfer_copy_device(Call *call)
{
    const WireRequest *request = &call->request;
    const WireBox *to = &request->copy.device, *from = &request->copy.from;
    u64 width = request->copy.width;
    const Allocation *source_of = range_check_box(call, ACCESS_READ, from);
    const Allocation *target_of = source_of ? range_check_box(call, ACCESS_WRITE, to) : NULL;
    if (!target_of) return;
    bool peers = are_peers(source_of, target_of);
    if (peers) clock_join_devices(request->stream, source_of->device, target_of->device);
    begin(call, source_of, target_of);
    note_small(request, source_of, target_of);
    look_for_races(call, from, false);
    look_for_races(call, to, true);
    for (u64 row = 0; row < row_count(call); row++) {
        u64 target = row_at(call, to, row);
        move_row(target, target_of, row_at(call, from, row), source_of, width);
        managed_written(target, width, request->device);
        caches_written(target, width);
    }
    if (peers) finish_peer_copy(call, source_of->device, target_of->device);
    else finish_device_copy(call, target_of, source_of);
}

// The program makes the copy itself after the reply. The copy follows the earlier work of its
// stream, and the host waits for that work even if the call is asynchronous.
void transfer_copy_host(Call *call)
{
    u64 stream = call->request.stream;
    if (!handle_stream(call, stream)) return;
    if (!range_check_host(call, ACCESS_READ, &call->request.copy.from)
        || !range_check_host(call, ACCESS_WRITE, &call->request.copy.device))
        return;
    clock_operation(stream);
    clock_work(stream, ENGINE_NONE, 1, 0, true);
    report_copy("HtoH", call->request.copy.width * row_count(call), NULL);
}

// Fills with a value of 1, 2 or 4 bytes.
static void fill_row(u8 *at, u64 bytes, u32 value, u32 value_bytes)
{
    if (value_bytes == 1) memset(at, (int)value, bytes);
    else
        for (u64 i = 0; i < bytes; i += value_bytes) memcpy(at + i, &value, value_bytes);
}

// Is the width of the value valid: are addresses, pitches and widths multiples of it?
static bool value_good(const WireRequest *request)
{
    u32 bytes = request->copy.value_bytes;
    const WireBox *box = &request->copy.device;
    bool rows = request->copy.rows > 1, slices = request->copy.slices > 1;
    return (bytes == 1 || bytes == 2 || bytes == 4) && request->copy.width % bytes == 0
        && box->address % bytes == 0 && (!rows || box->pitch % bytes == 0)
        && (!slices || box->slice % bytes == 0);
}

// Whoever fills an array with one value says nothing with it. In many small parts it may be what
// the host had.
static enum writer filler_of(const WireRequest *request, const Allocation *a)
{
    enum { PARTS = 16 };
    return request->copy.width * request->copy.rows * request->copy.slices >= a->size / PARTS
             ? WRITER_FILL
             : WRITER_HOST;
}

void transfer_fill(Call *call)
{
    const WireRequest *request = &call->request;
    if (!value_good(request)) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    const Allocation *a = range_check_box(call, ACCESS_WRITE, &request->copy.device);
    if (!a) return;
    begin(call, a, NULL);
    look_for_races(call, &request->copy.device, true);
    u64 width = request->copy.width;
    enum writer filler = filler_of(request, a);
    u8 *later = call->deferred ? flight_bring(clock_operation(request->stream)) : NULL;
    for (u64 row = 0; row < row_count(call); row++) {
        u64 address = row_at(call, &request->copy.device, row);
        if (!later) flight_reach(address, width);
        fill_row(later ? later + row * width : (u8 *)address, width, request->copy.value,
                 request->copy.value_bytes);
        memory_define(address, width);
        writer_set(address, width, filler);
        managed_written(address, width, request->device);
        caches_written(address, width);
    }
    double bytes = (double)width * (double)row_count(call);
    double ns = (profile.fill_seconds + bytes / profile.dram_bytes_per_second) * 1e9;
    clock_work(request->stream, ENGINE_NONE, 1, ns, request->copy.blocks);
    activity_work(request->stream, "fill", "Memset", ns, (u64)bytes);
    if (writers) report_crossing(CROSSING_FILL, request->copy.value_bytes);
}

// ---- Copies whose bytes pass through the slots ----

static u32 next_bytes(const WireChunk *chunk)
{
    u64 left = chunk->total - chunk->offset;
    return left < WIRE_SLOT_BYTES ? (u32)left : WIRE_SLOT_BYTES;
}

// Makes a copy that is deferred or the owner's, chunk by chunk, as if the chunks arrived now.
static void copy_whole(Call *call, bool in)
{
    WireChunk *chunk = &call->request.copy.chunk;
    u8 *bytes = call->data;
    for (chunk->offset = 0; chunk->offset < chunk->total && !call->reply.error;
         chunk->offset += chunk->bytes) {
        chunk->bytes = next_bytes(chunk);
        call->data = bytes + chunk->offset;
        copy_chunk(call, in);
    }
    call->data = bytes;
}

// ---- Copies whose bytes the device itself reads or writes in pinned memory ----

// Moves the chunk between the host's box and Call.data.
static void move_hosts_chunk(const Call *call, const WireBox *host, bool in)
{
    const WireChunk *chunk = &call->request.copy.chunk;
    u64 width = call->request.copy.width, offset = chunk->offset, left = chunk->bytes;
    for (u8 *data = call->data; left;) {
        u64 column = offset % width, piece = width - column < left ? width - column : left;
        u64 address = row_at(call, host, offset / width) + column;
        flight_reach(address, piece);
        if (in) memcpy(data, (void *)address, piece);
        else memcpy((void *)address, data, piece);
        data += piece;
        offset += piece;
        left -= piece;
    }
}

// What a copy brings to the host lands later if the host does not wait for it.
static void copy_directly(Call *call, bool in)
{
    static u8 piece[WIRE_SLOT_BYTES];
    const WireRequest *r = &call->request;
    WireBox host = { r->copy.reach, r->copy.from.pitch, r->copy.from.slice };
    WireChunk *chunk = &call->request.copy.chunk;
    if (!range_is_pinned(r, &host)) {
        if (range_check_box(call, in ? ACCESS_WRITE : ACCESS_READ, &r->copy.device))
            range_check_host(call, in ? ACCESS_READ : ACCESS_WRITE, &r->copy.from);
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    u8 *later = in || !call->deferred ? NULL : flight_bring(clock_operation(r->stream));
    for (chunk->offset = 0; chunk->offset < chunk->total && !call->reply.error;
         chunk->offset += chunk->bytes) {
        chunk->bytes = next_bytes(chunk);
        call->data = later ? later + chunk->offset : piece;
        if (in) move_hosts_chunk(call, &host, true);
        copy_chunk(call, in);
        if (!in && !later && !call->reply.error) move_hosts_chunk(call, &host, false);
    }
    *chunk = (WireChunk){ .total = chunk->total, .offset = chunk->total }; // it was the last
    call->data = NULL;
}

static void copy_slots(Call *call, bool in)
{
    if (call->request.copy.reach && !call->by_owner) copy_directly(call, in);
    else if (call->deferred || call->by_owner) copy_whole(call, in);
    else copy_chunk(call, in);
}

void transfer_copy_in(Call *call) { copy_slots(call, true); }

void transfer_copy_out(Call *call)
{
    const WireRequest *r = &call->request;
    copy_slots(call, false);
    if (call->by_owner && !call->reply.error)
        writer_count(r->copy.device.address, r->copy.width, call->reply.written.words);
}

// ---- What the owner says of the host ----

static bool is_owners(Call *call)
{
    if (!call->by_owner) call->reply.error = WIRE_INVALID_VALUE;
    return call->by_owner;
}

void transfer_given(Call *call)
{
    if (!is_owners(call)) return;
    if (call->request.copy.value) carried_begin();
    carried_given(call->data, call->request.copy.width);
}

void transfer_compared(Call *call)
{
    if (!is_owners(call)) return;
    u64 bytes = call->request.copy.width, hosts = carried_unknown(call->data, bytes);
    call->reply.written.words[WRITER_HOST] = hosts;
    call->reply.written.words[WRITER_KERNEL] = (bytes + WRITER_WORD - 1) / WRITER_WORD - hosts;
}
