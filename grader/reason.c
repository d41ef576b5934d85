// The reasons, each a question to the trace. The first that is certain is told.
#define _GNU_SOURCE
#include "reason.h"
#include "buffer.h"
#include "check.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Trace *trace(void) { return &check.session.events.trace; }

// ---- Words ----

// " in line 47", or nothing where the line is not known.
static const char *in_line(const Traced *c)
{
    static char words[32];
    snprintf(words, sizeof words, c && c->line ? " in line %d" : "", c ? c->line : 0);
    return words;
}

static uint64_t threads_of(const Traced *launch)
{
    uint64_t threads = 1;
    for (int n = 0; n < 3; n++) threads *= (uint64_t)launch->grid[n] * launch->block[n];
    return threads;
}

// "add was launched with 2 blocks of 256 threads"
static char *launch_words(const Traced *launch)
{
    uint64_t block = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2],
             blocks = threads_of(launch) / block;
    char *name = text_function(launch->signature ? launch->signature : "the kernel");
    char *words = text_format("%s was launched with %llu block%s of %llu thread%s", name,
                              (unsigned long long)blocks, blocks == 1 ? "" : "s",
                              (unsigned long long)block, block == 1 ? "" : "s");
    free(name);
    return words;
}

// ---- Which copy, which array ----

static const Buffer *buffer_of(const TracedArray *a) { return check.argv[a->argument].buffer; }

static bool is_output(const TracedArray *a) { return buffer_of(a)->store->output; }

// The device tells of every call.
static bool is_traced(const Trace *t)
{
    return (t->count || t->last_is_harness) && trace_is_complete(t, TRACE_ALL);
}

// Only copies bring something from the host's arrays to the device and back: no memory is both
// sides', and the trace has every call.
static bool copies_bring_all(const Trace *t)
{
    for (size_t n = 0; n < t->count; n++)
        if (t->all[n]->does == DEED_ALLOC && t->all[n]->memory != MEMORY_OF_DEVICE) return false;
    return is_traced(t);
}

static bool covers(const Traced *copy, uint64_t begin, uint64_t address)
{
    return copy->rows <= 1 && address >= begin && address - begin < copy->bytes;
}

static const Traced *last_copy_to(uint64_t address)
{
    const Traced *last = NULL;
    for (const Traced *c = NULL; (c = trace_next(trace(), c, TRACE(COPY)));)
        if (!c->status && (covers(c, c->to, address) || (c->rows > 1 && c->to <= address)))
            last = c;
    return last;
}

static const Traced *launch_before(const Traced *c)
{
    const Traced *last = NULL;
    for (const Traced *l = NULL; (l = trace_next(trace(), l, TRACE(LAUNCH) | TRACE(GRAPH)));)
        if (!l->status && (!c || l->number < c->number)) last = l;
    return last;
}

// The input that was copied to this allocation, before call `at`; NULL: none.
static const TracedArray *input_in(const Traced *made, const Traced *at)
{
    const Trace *t = trace();
    for (const Traced *c = NULL; made && (c = trace_next(t, c, TRACE(COPY)));) {
        Whose from = trace_whose(t, c->from, c);
        if (at && c->number >= at->number) break;
        if (!c->status && from.array && trace_whose(t, c->to, c).made == made) return from.array;
    }
    return NULL;
}

// ---- What is amiss with the way to the device ----

static Reason never_copied_in(const TracedArray *a)
{
    return (Reason){ .why = text_format("%s was never copied to the device.", a->name),
                     .next = text_format("copy %s to the device before the launch: cudaMemcpy with "
                                         "cudaMemcpyHostToDevice",
                                         a->name) };
}

static Reason copied_short(const TracedArray *a, const Traced *c)
{
    return (Reason){ .why = text_format("The copy%s takes %llu of the %llu bytes of %s.",
                                        in_line(c), (unsigned long long)c->bytes,
                                        (unsigned long long)a->bytes, a->name),
                     .next = text_format("copy all of %s: cudaMemcpy counts bytes, so multiply the "
                                         "number of elements by sizeof",
                                         a->name),
                     .at = c };
}

// Another input was copied to the same memory later.
static const Traced *copied_over(const TracedArray *a, const Traced *copy)
{
    const Trace *t = trace();
    for (const Traced *c = copy; (c = trace_next(t, c, TRACE(COPY)));) {
        Whose from = trace_whose(t, c->from, c);
        if (!c->status && c->to == copy->to && from.array && from.array != a
            && !is_output(from.array) && launch_before(c) == launch_before(copy))
            return c;
    }
    return NULL;
}

static Reason of_input(const TracedArray *a)
{
    const Trace *t = trace();
    const Traced *c = trace_copy_from(t, a->argument, NULL);
    if (!c) return never_copied_in(a);
    if (trace_copy_from(t, a->argument, c)) return (Reason){ 0 }; // it comes in parts
    if (c->bytes < a->bytes) return copied_short(a, c);
    const Traced *over = copied_over(a, c);
    if (!over) return (Reason){ 0 };
    const char *other = trace_whose(t, over->from, over).array->name;
    return (Reason){
        .why = text_format("The copy%s puts %s over %s.", in_line(over), other, a->name),
        .next = text_format("give %s and %s memory of their own on the device", a->name, other),
        .at = over
    };
}

static Reason of_inputs(void)
{
    const Trace *t = trace();
    Reason reason = { 0 };
    for (size_t i = 0; i < t->arrays && !reason.why; i++)
        if (t->array[i].of_host && t->array[i].bytes && !is_output(&t->array[i]))
            reason = of_input(&t->array[i]);
    return reason;
}

// ---- What is amiss with the way back ----

Reason reason_of_call(void)
{
    const Trace *t = trace();
    if (!is_traced(t) || trace_next(t, NULL, TRACE(LAUNCH) | TRACE(GRAPH))) return (Reason){ 0 };
    return (Reason){ .why = text_format("%s launched no kernel.", check.function),
                     .next = text_format("launch the kernel that computes the answer") };
}

// The copy of an answer that no kernel can have computed by then.
static Reason too_early(const char *name, const Traced *copy)
{
    if (launch_before(copy)) return (Reason){ 0 };
    const Traced *later = launch_before(NULL);
    if (!later) return reason_of_call();
    return (Reason){ .why =
                         text_format("The copy to %s was made before a kernel was launched.", name),
                     .next = text_format("copy the answer back after the launch%s", in_line(later)),
                     .at = copy };
}

// Was anything of what this copy brought written by a kernel?
static bool is_by_device(const Traced *copy)
{
    const Events *e = &check.session.events;
    for (size_t n = e->returned_count; n-- > 0;)
        if (e->returned[n].to == copy->to && e->returned[n].bytes == copy->bytes)
            return e->returned[n].by_device || !e->returned[n].words;
    return true;
}

static Reason from_wrong_memory(const TracedArray *out, const Traced *copy)
{
    const TracedArray *in = input_in(trace_whose(trace(), copy->from, copy).made, copy);
    if (!in || is_by_device(copy)) return (Reason){ 0 };
    return (Reason){
        .why = text_format("What was copied to %s is the memory that %s was copied to: "
                           "no kernel wrote there.",
                           out->name, in->name),
        .next = text_format("copy to %s from the memory that the kernel writes", out->name),
        .at = copy
    };
}

static Reason never_copied_back(const TracedArray *out)
{
    const Trace *t = trace();
    const Traced *wrong_way = trace_copy_from(t, out->argument, NULL);
    if (wrong_way)
        return (Reason){ .why = text_format("The copy%s goes from %s to the device, and no copy "
                                            "goes from the device to %s.",
                                            in_line(wrong_way), out->name, out->name),
                         .next = text_format("turn it round: cudaMemcpy(%s, ..., bytes, "
                                             "cudaMemcpyDeviceToHost), the destination first",
                                             out->name),
                         .at = wrong_way };
    // Without a launch there is nothing to copy, and that is for reason_of_call() to tell.
    if (!launch_before(NULL)) return (Reason){ 0 };
    return (Reason){ .why = text_format(
                         "Nothing was copied to %s: what the kernel computed stayed on the "
                         "device.",
                         out->name),
                     .next = text_format("copy the answer to %s after the kernel: cudaMemcpy with "
                                         "cudaMemcpyDeviceToHost",
                                         out->name) };
}

static Reason of_output(const TracedArray *out, uint64_t offset)
{
    const Traced *any = trace_copy_to(trace(), out->argument, NULL),
                 *copy = last_copy_to(out->address + offset);
    if (!any) return never_copied_back(out);
    if (!copy)
        return trace_copy_to(trace(), out->argument, any) ? (Reason){ 0 } : copied_short(out, any);
    Reason reason = too_early(out->name, copy);
    return reason.why ? reason : from_wrong_memory(out, copy);
}

Reason reason_of_element(const Buffer *out, size_t index)
{
    const Trace *t = trace();
    call_lines();
    for (size_t i = 0; i < t->arrays; i++) {
        const TracedArray *a = &t->array[i];
        if (buffer_of(a) != out || !a->of_host || !copies_bring_all(t)) continue;
        size_t size = element_bytes(out->store->element);
        // The last byte of the element, of which a copy may have brought the first.
        return of_output(a, (index + 1) * size - 1);
    }
    return (Reason){ 0 };
}

// ---- Memory that nothing wrote ----

// The first element that is missing comes right behind those that have a thread each.
static Reason too_few_threads(const TracedArray *out, uint64_t element)
{
    const Traced *launch = launch_before(NULL);
    if (!launch || launch->does != DEED_LAUNCH || threads_of(launch) != element)
        return (Reason){ 0 };
    char *words = launch_words(launch);
    Reason reason = { .why = text_format("%s%s: %llu threads, for the %zu elements of %s.", words,
                                         in_line(launch), (unsigned long long)element,
                                         buffer_of(out)->count, out->name),
                      .next =
                          text_format("launch a thread for each element: the number of elements "
                                      "over that of a block's threads, rounded up"),
                      .at = launch };
    free(words);
    return reason;
}

// Which argument of the launch points into the allocation, from 1 on; 0: none.
static size_t argument_in(const Traced *launch, const Traced *made, TracedValue *value)
{
    for (size_t n = 0; n < launch->argc; n++) {
        *value = trace_value(trace(), launch, n);
        if (value->kind == VALUE_POINTER && value->whose.made == made) return n + 1;
    }
    return 0;
}

// The kernel was not given this memory, or only to read.
static Reason not_given(const Traced *made, const TracedArray *out)
{
    const Traced *launch = launch_before(NULL);
    TracedValue value;
    if (!launch || launch->does != DEED_LAUNCH) return (Reason){ 0 };
    size_t argument = argument_in(launch, made, &value);
    if (argument && !strstr(value.type, "const")) return (Reason){ 0 };
    char *name = text_function(launch->signature ? launch->signature : "the kernel"),
         *why = argument
                  ? text_format("What is copied to %s was given to %s as its argument %zu, a "
                                "%s, which the kernel only reads.",
                                out->name, name, argument, value.type)
                  : text_format("What is copied to %s was not given to %s.", out->name, name);
    free(name);
    return (Reason){ .why = why,
                     .next = text_format("compare the launch's arguments%s with the kernel's "
                                         "parameters",
                                         in_line(launch)),
                     .at = launch };
}

// The copy to an output of what nothing wrote, from byte `offset` of the allocation on.
static Reason of_unwritten(const Traced *made, uint64_t address)
{
    const Trace *t = trace();
    const Traced *copy = NULL;
    while ((copy = trace_next(t, copy, TRACE(COPY))) && !covers(copy, copy->from, address))
        ;
    const TracedArray *out = copy ? trace_whose(t, copy->to, copy).array : NULL;
    if (!out || !out->of_host || !is_output(out)) return (Reason){ 0 };
    Reason reason = too_early(out->name, copy);
    if (!reason.why) reason = of_inputs();
    if (!reason.why) reason = not_given(made, out);
    uint64_t element = (address - copy->from) / element_bytes(buffer_of(out)->store->element);
    return reason.why ? reason : too_few_threads(out, element);
}

// ---- Memory that is too small ----

// The array of the host's that this allocation is for: what was copied there, or else the output.
static const TracedArray *array_for(const Traced *made)
{
    const Trace *t = trace();
    const TracedArray *array = input_in(made, NULL);
    for (size_t i = 0; i < t->arrays && !array; i++)
        if (t->array[i].of_host && is_output(&t->array[i])) array = &t->array[i];
    return array;
}

// Is the size in elements where it should be in bytes, or one element short? Less may well be
// meant, as a part of the array at a time.
static Reason too_small(const Traced *made)
{
    const TracedArray *a = array_for(made);
    uint64_t count = a ? buffer_of(a)->count : 0;
    if (!a || made->bytes >= a->bytes) return (Reason){ 0 };
    bool in_elements = made->bytes == count;
    if (!in_elements && a->bytes - made->bytes > a->bytes / count) return (Reason){ 0 };
    return (Reason){
        .why = text_format("The allocation%s has %llu byte%s; %s has %llu.", in_line(made),
                           (unsigned long long)made->bytes, made->bytes == 1 ? "" : "s", a->name,
                           (unsigned long long)a->bytes),
        .next = in_elements
                  ? text_format("multiply by sizeof%s: %s counts bytes, not "
                                "elements",
                                in_line(made), made->name)
                  : text_format("allocate as many bytes%s as %s has", in_line(made), a->name),
    };
}

// ---- Too much for so few threads ----

static Reason overworked(void)
{
    enum { MANY = 256 };
    const Traced *launch = launch_before(NULL);
    const Buffer *most = NULL;
    for (size_t i = 0; i < check.argc; i++)
        if (call_is_buffer(&check.argv[i]) && (!most || check.argv[i].buffer->count > most->count))
            most = check.argv[i].buffer;
    if (!launch || launch->does != DEED_LAUNCH || !most) return (Reason){ 0 };
    if (most->count / MANY < threads_of(launch)) return (Reason){ 0 };
    bool alone = threads_of(launch) == 1;
    char *words = launch_words(launch);
    Reason reason = {
        .why = text_format("%s%s, and %s has %zu elements: that is %llu for each thread%s.", words,
                           in_line(launch), most->name, most->count,
                           (unsigned long long)(most->count / threads_of(launch)),
                           alone ? "" : " if they share them, and all for each if they don't"),
        .next = strdup(alone ? "launch a thread for each element, or enough that each has a few"
                             : "let each thread begin at its own index and go on by the number of "
                               "threads, or launch a thread for each element"),
    };
    free(words);
    return reason;
}

Reason reason_of_lateness(void)
{
    const Traced *last = NULL;
    for (const Traced *c = NULL; (c = trace_next(trace(), c, TRACE_ALL));) last = c;
    Reason reason = overworked();
    if (reason.why || !last) return reason;
    reason.next = text_format("look at what follows %s%s: a loop that does not end, or a wait for "
                              "what never comes",
                              last->does == DEED_LAUNCH ? "the launch" : last->name, in_line(last));
    if (last->does == DEED_LAUNCH) {
        char *words = launch_words(last);
        reason.why =
            text_format("%s%s, and no call of CUDA has ended since.", words, in_line(last));
        free(words);
    } else {
        reason.why =
            text_format("%s%s is the last call of CUDA that ended.", last->name, in_line(last));
    }
    return reason;
}

Reason reason_of_error(const json_t *event)
{
    const Trace *t = trace();
    const json_t *made = json_object_get(event, "allocation");
    bool by_kernel = json_object_get(event, "kernel");
    const char *address = json_string_value(json_object_get(event, "address")),
               *begins = json_string_value(json_object_get(made, "address"));
    Whose w = trace_whose(t, strtoull(begins ? begins : address ? address : "0", NULL, 0), NULL);
    call_lines();
    switch (kind_of(event)) {
    case KIND_TIMEOUT: return overworked();
    case KIND_BOUNDS:
        return by_kernel && w.made && w.made->does == DEED_ALLOC ? too_small(w.made)
                                                                 : (Reason){ 0 };
    case KIND_UNINITIALIZED:
        if (w.array) return reason_of_call();
        return w.made && address && copies_bring_all(t)
                 ? of_unwritten(w.made, strtoull(address, NULL, 0))
                 : (Reason){ 0 };
    default: return (Reason){ 0 };
    }
}
