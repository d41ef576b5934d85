// The device's report, however it is cut into pieces.
#include "events.h"
#include <criterion/criterion.h>
#include <string.h>

static const char report[] =
    "{\"event\":\"kernel\",\"signature\":\"k(int)\",\"counters\":{\"a\":2,\"b\":3},\"estimates\":["
    "\"b\"],"
    "\"lines\":[{\"file\":\"x.cu\",\"line\":4,\"counters\":{\"a\":2}}],\"time_ns\":1.5}\n"
    "{\"event\":\"copy\",\"kind\":\"HtoD\",\"bytes\":4096}\n"
    "{\"event\":\"copy\",\"kind\":\"DtoD\",\"bytes\":64}\n"
    "{\"event\":\"copy\",\"kind\":\"HtoD\",\"bytes\":4}\n"
    "{\"event\":\"kernel\",\"signature\":\"k(int)\",\"counters\":{\"a\":5},\"aside\":{\"c\":4},"
    "\"lines\":[{\"file\":\"x.cu\",\"line\":4,\"counters\":{\"a\":5}}],\"time_ns\":1}\n"
    "{\"event\":\"kernel\",\"signature\":\"other()\",\"time_ns\":0}\n"
    "{\"event\":\"error\",\"kind\":\"leak\",\"message\":\"m\",\"line\":7}\n"
    "{\"event\":\"error\",\"kind\":\"leak\",\"message\":\"m\",\"line\":7}\n"
    "{\"event\":\"exit\",\"status\":3}\n";

Test(events, are_the_same_in_any_pieces)
{
    for (size_t piece = 1; piece < sizeof report; piece += 7) {
        Events e;
        events_init(&e);
        events_new_call(&e);
        for (size_t at = 0; at < sizeof report - 1; at += piece) {
            size_t left = sizeof report - 1 - at;
            events_feed(&e, report + at, left < piece ? left : piece);
        }
        cr_assert_null(e.malformed);
        cr_assert_eq(e.kernels, 3);
        cr_assert_eq(json_array_size(e.by_kernel), 2);
        json_t *k = json_array_get(e.by_kernel, 0);
        cr_assert_eq(json_integer_value(json_object_get(k, "launches")), 2);
        cr_assert_float_eq(json_number_value(json_object_get(k, "time_ns")), 2.5, 1e-12);
        cr_assert_eq(json_integer_value(json_object_get(e.counters, "a")), 7);
        cr_assert_eq(json_integer_value(json_object_get(e.counters, "c")), 4);
        cr_assert_eq(json_integer_value(json_object_get(e.counters, "memcpy__bytes_htod.sum")),
                     4100);
        cr_assert_eq(json_integer_value(json_object_get(e.counters, "memcpy__bytes_dtoh.sum")), 0);
        cr_assert_eq(json_integer_value(json_object_get(e.counters, "memcpy__bytes_dtod.sum")), 64);
        cr_assert_eq(json_integer_value(json_object_get(e.call, "memcpy__count.sum")), 3);
        cr_assert(json_is_true(json_object_get(e.estimates, "b")));
        cr_assert_eq(json_array_size(e.lines), 1);
        cr_assert_eq(json_array_size(e.errors), 1, "a repeated error is kept once");
        cr_assert(e.ended && e.status == 3 && e.signal == 0);
        cr_assert_float_eq(e.time_ns, 2.5, 1e-12);
    }
}

// What was counted before is forgotten, and what went wrong is not.
Test(events, are_counted_from_here)
{
    Events e;
    events_init(&e);
    events_new_call(&e);
    events_feed(&e, report, sizeof report - 1);
    events_forget(&e);
    cr_assert(e.kernels == 0 && e.time_ns == 0);
    cr_assert_eq(json_array_size(e.by_kernel) + json_array_size(e.lines), 0);
    cr_assert_eq(json_integer_value(json_object_get(e.counters, "a")), 0);
    cr_assert_eq(json_integer_value(json_object_get(e.counters, "memcpy__bytes_htod.sum")), 0);
    cr_assert_eq(json_integer_value(json_object_get(e.counters, "memcpy__bytes_dtod.sum")), 0);
    cr_assert_eq(json_array_size(e.errors), 1);
    events_new_call(&e);
    events_feed(&e, report, strcspn(report, "\n") + 1);
    cr_assert_eq(json_integer_value(json_object_get(e.counters, "a")), 2);
    cr_assert(e.kernels == 1 && e.time_ns == 1.5);
    cr_assert_eq(json_array_size(e.by_kernel), 1);
}

static const char moves[] =
    "{\"event\":\"migration\",\"direction\":\"DtoH\",\"cause\":\"cpu-fault\",\"bytes\":0,"
    "\"faults\":2}\n"
    "{\"event\":\"migration\",\"direction\":\"HtoD\",\"cause\":\"prefetch\",\"bytes\":4096,"
    "\"faults\":0}\n"
    "{\"event\":\"migration\",\"direction\":\"HtoD\",\"cause\":\"gpu-fault\",\"bytes\":100,"
    "\"faults\":3}\n"
    "{\"event\":\"kernel\",\"counters\":{\"unified_memory__bytes_htod.sum\":100,"
    "\"unified_memory__gpu_page_faults.sum\":3}}\n"
    "{\"event\":\"migration\",\"direction\":\"DtoH\",\"cause\":\"cpu-fault\",\"bytes\":8192,"
    "\"faults\":1}\n";

Test(events, what_managed_memory_moves_is_summed_once)
{
    static const struct {
        const char *name;
        int sum;
    } expected[] = {
        { "unified_memory__gpu_page_faults.sum", 3 },
        { "unified_memory__cpu_page_faults.sum", 3 },
        { "unified_memory__bytes_htod.sum", 4196 },
        { "unified_memory__bytes_dtoh.sum", 8192 },
        { "unified_memory__bytes_prefetched.sum", 4096 },
    };
    Events e;
    events_init(&e);
    events_new_call(&e);
    events_feed(&e, moves, strlen(moves));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *name = expected[i].name;
        cr_expect_eq(json_integer_value(json_object_get(e.counters, name)), expected[i].sum, "%s",
                     name);
        cr_expect_eq(json_integer_value(json_object_get(e.call, name)), expected[i].sum, "%s",
                     name);
    }
    events_new_call(&e);
    cr_expect_eq(json_object_size(e.call), 0);
}

static const char refusal[] = "{\"event\":\"refused\",\"status\":9,\"message\":\"m\"}\n";

Test(events, the_next_call_knows_nothing_of_a_refused_launch)
{
    Events e;
    events_init(&e);
    events_new_call(&e);
    events_feed(&e, refusal, sizeof refusal - 1);
    cr_assert_null(e.malformed);
    cr_assert_not_null(e.refused);
    events_new_call(&e);
    cr_expect_null(e.refused);
}

Test(events, nonsense_is_never_overlooked)
{
    static const char *const nonsense[] = { "{\n", "[]\n", "{\"event\":1}\n", "\n",
                                            "{\"a\":1,\"a\":2}\n" };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        Events e;
        events_init(&e);
        events_new_call(&e);
        events_feed(&e, nonsense[i], strlen(nonsense[i]));
        cr_expect_not_null(e.malformed, "%s", nonsense[i]);
    }
}

static const char works[] = "{\"event\":\"work\",\"kind\":\"copy\",\"device\":0,\"start_ns\":100,"
                            "\"end_ns\":300,\"links\":[[0,1,64]]}\n"
                            "{\"event\":\"work\",\"kind\":\"copy\",\"device\":1,\"start_ns\":200,"
                            "\"end_ns\":400,\"links\":[[1,0,32]]}\n"
                            "{\"event\":\"work\",\"kind\":\"kernel\",\"device\":2,\"start_ns\":150,"
                            "\"end_ns\":250,\"links\":[[2,0,16],[0,2,8]]}\n";
static const char by_host[] = "{\"event\":\"work\",\"kind\":\"copy\",\"device\":0,\"start_ns\":"
                              "1000,\"end_ns\":1010,\"by_host\":[[0,1,5]]}\n";

static int sum_of(const Events *e, const char *name)
{
    return (int)json_integer_value(json_object_get(e->counters, name));
}

// Device 0 sends 64 + 8 bytes, which no other link beats either way. The next call begins anew.
Test(events, what_devices_send_is_told_of_the_busiest_link)
{
    Events e;
    events_init(&e);
    events_new_call(&e);
    events_feed(&e, works, sizeof works - 1);
    cr_assert_eq(sum_of(&e, "link__bytes_busiest.sum"), 72);
    cr_assert_eq(sum_of(&e, "devices__elapsed_ns.sum"), 300);
    cr_assert_eq(sum_of(&e, "devices__work_ns.sum"), 500);
    cr_assert_eq(sum_of(&e, "devices__work.sum"), 3);
    events_new_call(&e);
    events_feed(&e, by_host, sizeof by_host - 1);
    cr_assert_eq(sum_of(&e, "link__bytes_busiest.sum"), 72);
    cr_assert_eq(sum_of(&e, "memcpy__bytes_dtoh.sum"), 5);
    cr_assert_eq(sum_of(&e, "memcpy__bytes_htod.sum"), 5);
    cr_assert_eq(sum_of(&e, "devices__elapsed_ns.sum"), 310);
    events_new_call(&e);
    events_feed(&e, works, sizeof works - 1);
    cr_assert_eq(sum_of(&e, "link__bytes_busiest.sum"), 144);
}

static const char ranged[] =
    "{\"event\":\"call\",\"name\":\"a "
    "call\",\"did\":\"copy\",\"blocks\":true,\"start_ns\":0,\"end_ns\":50}\n"
    "{\"event\":\"work\",\"kind\":\"copy\",\"device\":0,\"start_ns\":0,\"end_ns\":40,\"links\":[]}"
    "\n"
    "{\"event\":\"range\",\"begins\":true,\"owner\":true,\"busy_ns\":0}\n"
    "{\"event\":\"range\",\"begins\":false,\"owner\":false,\"busy_ns\":7}\n"
    "{\"event\":\"call\",\"name\":\"a call\",\"did\":\"copy\",\"start_ns\":100,\"end_ns\":102}\n"
    "{\"event\":\"call\",\"name\":\"a call\",\"did\":\"launch\",\"start_ns\":102,\"end_ns\":106}\n"
    "{\"event\":\"call\",\"name\":\"a call\",\"did\":\"graph\",\"start_ns\":106,\"end_ns\":108}\n"
    "{\"event\":\"work\",\"kind\":\"copy\",\"device\":0,\"stream\":2,\"start_ns\":102,\"end_ns\":"
    "202,\"links\":[]}\n"
    "{\"event\":\"work\",\"kind\":\"kernel\",\"device\":0,\"stream\":0,\"start_ns\":152,\"end_ns\":"
    "252,\"links\":[]}\n"
    "{\"event\":\"call\",\"name\":\"a "
    "call\",\"did\":\"wait\",\"blocks\":true,\"start_ns\":108,\"end_ns\":208}\n"
    "{\"event\":\"call\",\"name\":\"a "
    "call\",\"did\":\"copy\",\"blocks\":true,\"start_ns\":208,\"end_ns\":218}\n"
    "{\"event\":\"call\",\"name\":\"a call\",\"did\":\"copy\",\"start_ns\":218,\"end_ns\":5219}\n"
    "{\"event\":\"call\",\"name\":\"a call\",\"did\":\"order\",\"start_ns\":5219,\"end_ns\":5219}\n"
    "{\"event\":\"call\",\"name\":\"a "
    "call\",\"did\":\"free\",\"blocks\":true,\"start_ns\":5219,\"end_ns\":5220}\n"
    "{\"event\":\"call\",\"name\":\"a call\",\"did\":\"copy\",\"start_ns\":5220,\"end_ns\":5220}\n"
    "{\"event\":\"call\",\"name\":\"a "
    "call\",\"did\":\"wait\",\"blocks\":true,\"start_ns\":5220,\"end_ns\":5220}\n"
    "{\"event\":\"range\",\"begins\":false,\"owner\":false,\"busy_ns\":144}\n"
    "{\"event\":\"range\",\"begins\":false,\"owner\":true,\"busy_ns\":0}\n"
    "{\"event\":\"range\",\"begins\":true,\"owner\":false,\"busy_ns\":144}\n"
    "{\"event\":\"work\",\"kind\":\"copy\",\"device\":0,\"start_ns\":300,\"end_ns\":340,\"links\":["
    "]}\n"
    "{\"event\":\"call\",\"name\":\"a call\",\"did\":\"launch\",\"start_ns\":300,\"end_ns\":304}\n";

// Where the timeline is kept only what the function does counts, not what the harness does before
// and behind: from when the grader says that the call begins until it says that it is over. What
// the program says of its ranges tells how long the device is busy.
Test(events, what_lies_outside_of_the_range_is_not_the_functions)
{
    Events e;
    events_init(&e);
    events_new_call(&e);
    e.ranged = true;
    events_feed(&e, ranged, sizeof ranged - 1);
    cr_assert_null(e.malformed);
    cr_expect_eq(sum_of(&e, "devices__elapsed_ns.sum"), 150);
    cr_expect_eq(sum_of(&e, "devices__work_ns.sum"), 200);
    cr_expect_eq(sum_of(&e, "devices__work.sum"), 2);
    cr_expect_eq(sum_of(&e, "cuda_api__launch_calls.sum"), 2);
    cr_expect_eq(sum_of(&e, "cuda_api__time_ns.sum"), 8 + 100 + 10 + 5001 + 1);
    cr_expect_eq(sum_of(&e, "cuda_api__waits_between.sum"), 2);
    cr_expect_eq(sum_of(&e, "cuda_api__waiting_copies.sum"), 1);
    cr_expect_eq(sum_of(&e, "cuda_api__long_async_copies.sum"), 1);
    cr_expect_eq(sum_of(&e, "devices__work_in_default_stream.sum"), 1);
    cr_expect_eq(sum_of(&e, "devices__streams.sum"), 1, "the default stream is none of them");
    cr_expect_eq(sum_of(&e, "cuda_api__event_waits.sum"), 1);
    cr_expect_float_eq(e.busy_ns, 144, 1e-9);
    cr_expect_not(e.within);
}

// Modules, what a program fills with, and what its kernels print are a way to the device and back.
Test(events, what_crosses_otherwise_is_counted_for_the_call)
{
    static const char lines[] = "{\"event\":\"crossing\",\"kind\":\"module\",\"bytes\":50}\n"
                                "{\"event\":\"crossing\",\"kind\":\"fill\",\"bytes\":4}\n"
                                "{\"event\":\"crossing\",\"kind\":\"print\",\"bytes\":30}\n"
                                "{\"event\":\"crossing\",\"kind\":\"hosts\",\"bytes\":700}\n"
                                "{\"event\":\"crossing\",\"kind\":\"pages\",\"bytes\":80}\n"
                                "{\"event\":\"crossing\",\"kind\":\"shown\",\"bytes\":6}\n"
                                "{\"event\":\"crossing\",\"kind\":\"pinned\",\"bytes\":9}\n";
    Events e;
    events_init(&e);
    events_new_call(&e);
    events_feed(&e, lines, sizeof lines - 1);
    cr_assert_null(e.malformed);
    cr_expect_eq(json_integer_value(json_object_get(e.call, "crossing__bytes_htod.sum")), 54);
    cr_expect_eq(json_integer_value(json_object_get(e.call, "crossing__bytes_dtoh.sum")), 30);
    cr_expect_eq(json_integer_value(json_object_get(e.call, "crossing__bytes_hosts.sum")), 700);
    cr_expect_eq(json_integer_value(json_object_get(e.call, "crossing__bytes_pages.sum")), 80);
    cr_expect_eq(json_integer_value(json_object_get(e.call, "crossing__bytes_shown.sum")), 6);
    cr_expect_eq(json_integer_value(json_object_get(e.call, "crossing__bytes_pinned.sum")), 9);
}

// What no device says is no report: the grader does not guess.
Test(events, what_cannot_be_is_malformed)
{
    static const char *const lines[] = {
        "{\"event\":\"present\",\"name\":\"x\"}\n",
        "{\"event\":\"kernel\",\"signature\":\"f()\",\"counters\":{\"a\":-1}}\n",
        "{\"event\":\"kernel\",\"signature\":\"f()\",\"counters\":{\"a\":\"1\"}}\n",
        "{\"name\":\"kernel\"}\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Events e;
        events_init(&e);
        events_new_call(&e);
        events_feed(&e, lines[i], strlen(lines[i]));
        cr_expect(e.malformed, "%s", lines[i]);
        cr_expect_eq(e.kernels, 0);
    }
}

Test(events, what_is_launched_outside_of_calls_does_not_count)
{
    static const char kernel[] =
        "{\"event\":\"kernel\",\"signature\":\"f()\",\"counters\":{\"a\":5},\"time_ns\":1}\n";
    Events e;
    events_init(&e);
    events_feed(&e, kernel, sizeof kernel - 1);
    cr_expect_eq(e.kernels, 0);
    events_new_call(&e);
    events_feed(&e, kernel, sizeof kernel - 1);
    events_end_call(&e);
    events_feed(&e, kernel, sizeof kernel - 1);
    cr_expect_null(e.malformed);
    cr_expect_eq(e.kernels, 1);
    cr_expect_eq(sum_of(&e, "a"), 5);
}
