// The trace of a check, from the device's lines.
#include "check.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static Events e;
static const Trace *t = &e.trace;

// Line ends, and the apostrophes in place of quotation marks that lines are written with here.
static void feed(const char *line)
{
    char text[1024];
    size_t n = strlen(line);
    cr_assert_lt(n, sizeof text - 1);
    for (size_t i = 0; i < n; i++) text[i] = line[i] == '\'' ? '"' : line[i];
    text[n] = '\n';
    events_feed(&e, text, n + 1);
}

static void feed_good(const char *line)
{
    feed(line);
    cr_assert_null(e.malformed, "%s: %s", line, e.malformed);
}

static void begin(void)
{
    events_init(&e);
    e.trace.harness = (Harness){ .program = "/x/worker", .begin = 0x1000, .end = 0x2000 };
    events_new_call(&e);
}

TestSuite(trace, .init = begin);

#define CALL(name, does) "{'event':'call','name':'" name "','does':'" does "'"

// a, b and c, of 400 bytes each, on the host.
static void add_arrays(void)
{
    static const char *const names[] = { "c", "a", "b" };
    for (size_t i = 0; i < 3; i++)
        trace_add_array(&e.trace, (TracedArray){ .argument = i,
                                                 .name = names[i],
                                                 .address = 0x7f0000001000 + 0x1000 * i,
                                                 .bytes = 400,
                                                 .of_host = true });
}

static const char allocs_x[] = CALL("cudaMalloc", "alloc") ",'memory':'device','bytes':400,"
                                                           "'address':'0x200000100000'}",
                  allocs_y[] = CALL("cudaMalloc", "alloc") ",'memory':'device','bytes':400,"
                                                           "'address':'0x200000200000'}",
                  copies_a_to_x[] = CALL(
                      "cudaMemcpy", "copy") ",'kind':'HtoD','bytes':400,'to':'0x200000100000',"
                                            "'from':'0x7f0000002000','waits':'stream','stream':0}",
                  copies_y_to_c[] =
                      CALL("cudaMemcpyAsync",
                           "copy") ",'kind':'DtoH','bytes':100,'to':'0x7f0000001100',"
                                   "'from':'0x200000200064','pinned':true,'stream':2}",
                  frees_x[] = CALL("cudaFree", "free") ",'address':'0x200000100000','waits':'all'}";

#define LAUNCH(signature, arguments, more)                                                         \
    CALL("cudaLaunchKernel", "launch")                                                             \
    ",'signature':'" signature                                                                     \
    "','grid':[4,1,1],'block':[256,1,1],'stream':0,'arguments':" arguments more "}"

Test(trace, knows_whose_an_address_is)
{
    add_arrays();
    feed_good(allocs_x);
    feed_good(copies_a_to_x);
    const Traced *copy = trace_next(t, NULL, TRACE(COPY));
    Whose to = trace_whose(t, copy->to, copy), from = trace_whose(t, copy->from + 399, copy);
    cr_assert_eq(to.whose, WHOSE_OWN);
    cr_assert_eq(to.made, t->all[0]);
    cr_assert_eq(to.offset, 0);
    cr_assert_eq(from.whose, WHOSE_ARGUMENT);
    cr_assert_str_eq(from.array->name, "a");
    cr_assert_eq(from.offset, 399);
    cr_assert_eq(trace_whose(t, copy->from + 400, copy).whose, WHOSE_HOST);
    cr_assert(copy->stream == 0 && t->all[0]->stream == -1);
    cr_assert_eq(trace_whose(t, copy->to + 400, copy).whose, WHOSE_NOBODY);
    cr_assert_eq(trace_whose(t, copy->to, t->all[0]).whose, WHOSE_NOBODY, "not before it is made");
    events_new_call(&e);
    cr_assert_eq(trace_whose(t, copy->from, NULL).whose, WHOSE_HOST,
                 "the next call has its own arrays");
}

Test(trace, knows_when_memory_was_freed)
{
    feed_good(allocs_x);
    feed_good(frees_x);
    feed_good(allocs_x);
    feed_good(allocs_y);
    feed_good(CALL("cudaFree", "free") ",'address':'0x200000200000'}");
    cr_assert_eq(trace_whose(t, 0x200000100000, t->all[1]).freed, NULL);
    cr_assert_eq(trace_whose(t, 0x200000100000, t->all[2]).freed, t->all[1]);
    Whose now = trace_whose(t, 0x200000100000, NULL);
    cr_assert_eq(now.made, t->all[2], "what was made last at an address");
    cr_assert_null(now.freed);
    feed_good(CALL("cudaFree", "free") ",'address':'0x200000100000','status':1}");
    cr_assert_null(trace_whose(t, 0x200000100000, NULL).freed, "a call that failed frees nothing");
    feed_good(CALL("cudaDeviceReset", "reset") ",'device':1}");
    cr_assert_null(trace_whose(t, 0x200000100000, NULL).freed, "of another device");
    feed_good(CALL("cudaDeviceReset", "reset") "}");
    cr_assert_eq(trace_whose(t, 0x200000100000, NULL).freed, t->all[7]);
}

Test(trace, does_not_know_memory_that_was_refused)
{
    feed_good(CALL("cudaMalloc", "alloc") ",'memory':'device','bytes':400,'status':2}");
    cr_assert_eq(trace_whose(t, 0, NULL).whose, WHOSE_HOST);
    cr_assert_eq(t->all[0]->read, ERROR_RETURNED);
}

Test(trace, finds_the_copies_of_an_argument)
{
    add_arrays();
    feed_good(allocs_x);
    feed_good(allocs_y);
    feed_good(copies_a_to_x);
    feed_good(copies_y_to_c);
    cr_assert_eq(trace_copy_from(t, 1, NULL), t->all[2]);
    cr_assert_null(trace_copy_from(t, 1, t->all[2]));
    cr_assert_null(trace_copy_from(t, 2, NULL), "b was not copied");
    cr_assert_null(trace_copy_to(t, 1, NULL));
    const Traced *back = trace_copy_to(t, 0, NULL);
    cr_assert_eq(back, t->all[3]);
    cr_assert_eq(trace_whose(t, back->to, back).offset, 256);
    cr_assert_eq(trace_whose(t, back->from, back).offset, 100);
    cr_assert(back->pinned && !back->waits && back->stream == 2 && back->rows == 1);
    feed_good(CALL("cudaMemcpy", "copy") ",'kind':'HtoD','bytes':4,'to':'0x200000100000','from':"
                                         "'0x7f0000003000','status':1}");
    cr_assert_null(trace_copy_from(t, 2, NULL), "a copy that failed has copied nothing");
    feed_good(CALL("cudaMemcpy", "copy") ",'kind':'DtoH','bytes':4,'to':'0x7f0000003000',"
                                         "'from':'0x200000100000','status':1}");
    cr_assert_null(trace_copy_to(t, 2, NULL));
}

Test(trace, reads_the_arguments_of_a_launch_by_their_types)
{
    add_arrays();
    feed_good(allocs_x);
    feed_good(LAUNCH("void f<2, (int)3>(float const*, int, unsigned char, double, float, View, "
                     "void (*)(int, float*))",
                     "[[8,35184373137408],[4,4294967286],[1,200],[8,4611686018427387904],"
                     "[4,3204448256],[24,1,2,3],[8,9]]",
                     ",'shared':64"));
    const Traced *launch = trace_next(t, NULL, TRACE(LAUNCH));
    cr_assert_eq(launch->shared, 64);
    TracedValue v = trace_value(t, launch, 0);
    cr_assert(v.kind == VALUE_POINTER && v.whose.made == t->all[0] && v.whose.offset == 0);
    cr_assert_str_eq(v.type, "float const*");
    v = trace_value(t, launch, 1);
    cr_assert(v.kind == VALUE_INTEGER && v.integer == -10);
    v = trace_value(t, launch, 2);
    cr_assert(v.kind == VALUE_INTEGER && v.integer == 200);
    v = trace_value(t, launch, 3);
    cr_assert(v.kind == VALUE_REAL && v.real == 2.0);
    v = trace_value(t, launch, 4);
    cr_assert(v.kind == VALUE_REAL && v.real == -0.5);
    v = trace_value(t, launch, 5);
    cr_assert(v.kind == VALUE_BYTES && launch->argv[5].bytes == 24 && launch->argv[5].word[2] == 3);
    cr_assert_str_eq(v.type, "View");
    v = trace_value(t, launch, 6);
    cr_assert_eq(v.kind, VALUE_BYTES);
    cr_assert_str_eq(v.type, "void (*)(int, float*)");
}

Test(trace, knows_no_types_where_the_signature_is_another_launchs)
{
    feed_good(LAUNCH("f(int)", "[[4,1],[4,2]]", ""));
    TracedValue v = trace_value(t, t->all[0], 0);
    cr_assert_str_eq(v.type, "");
    cr_assert_eq(v.kind, VALUE_BYTES);
    feed_good(LAUNCH("f()", "[]", ""));
    cr_assert_eq(t->all[1]->argc, 0);
}

Test(trace, is_of_the_functions_last_call)
{
    feed_good(allocs_x);
    events_end_call(&e);
    feed_good(allocs_y);
    cr_assert_eq(trace_next(t, NULL, TRACE_ALL), t->all[0], "also when it has returned");
    cr_assert_null(trace_next(t, t->all[0], TRACE_ALL), "what comes then is of no call");
    events_new_call(&e);
    cr_assert_null(trace_next(t, NULL, TRACE_ALL));
    feed_good(frees_x);
    cr_assert_eq(trace_next(t, NULL, TRACE_ALL), t->all[2]);
    cr_assert_eq(trace_whose(t, t->all[2]->address, t->all[2]).made, t->all[0],
                 "which memory an earlier call has made is known");
    trace_add_array(&e.trace, (TracedArray){ .name = "a", .address = 0x200000100000, .bytes = 4 });
    cr_assert_eq(trace_whose(t, 0x200000100000, t->all[2]).whose, WHOSE_ARGUMENT);
    cr_assert_eq(trace_whose(t, 0x200000100000, t->all[1]).whose, WHOSE_OWN,
                 "not an earlier one's");
}

Test(trace, leaves_out_what_the_harness_does)
{
    static const char of_harness[] = CALL(
        "cudaHostAlloc",
        "alloc") ",'memory':'pinned','bytes':8,"
                 "'address':'0x20e000100000','caller':{'object':'/x/worker','address':'0x1800'}}",
                      of_student[] =
                          CALL("cudaHostAlloc", "alloc") ",'memory':'pinned','bytes':8,"
                                                         "'address':'0x20e000200000','caller':{'"
                                                         "object':'/x/worker','address':'0x2800'}}";
    feed_good(of_harness);
    feed_good("{'event':'call','again':3}");
    feed_good(of_student);
    feed_good("{'event':'call','again':999}");
    cr_assert_eq(t->count, 1);
    cr_assert_eq(t->all[0]->address, 0x20e000200000);
    cr_assert_eq(t->all[0]->times, 1000);
    feed_good(of_harness);
    feed_good("{'event':'call','again':3}");
    cr_assert_eq(t->all[0]->times, 1000);
    cr_assert_eq(t->all[0]->memory, MEMORY_PINNED);
}

Test(trace, says_what_it_lacks)
{
    feed_good(allocs_x);
    cr_assert(trace_is_complete(t, TRACE_ALL));
    feed_good("{'event':'call','does':'copy','left_out':7}");
    cr_assert(!trace_is_complete(t, TRACE_ALL));
    cr_assert(!trace_is_complete(t, TRACE(COPY)));
    cr_assert(trace_is_complete(t, TRACE_ALL & ~TRACE(COPY)));
    events_new_call(&e);
    cr_assert(trace_is_complete(t, TRACE_ALL));
}

#define SYNC(call, waits, more) CALL(call, "wait") ",'waits':'" waits "'" more "}"

Test(trace, knows_which_wait_is_for_what)
{
    feed_good(LAUNCH("f()", "[]", ""));
    feed_good(copies_y_to_c); // in stream 2
    const Traced *launch = t->all[0], *copy = t->all[1];
    cr_assert_null(trace_wait(t, launch));
    feed_good(SYNC("cudaStreamSynchronize", "stream", ",'stream':2,'status':400"));
    cr_assert_null(trace_wait(t, copy), "one that failed");
    feed_good(SYNC("cudaStreamSynchronize", "stream", ",'stream':2"));
    cr_assert_eq(trace_wait(t, copy), t->all[3]);
    cr_assert_null(trace_wait(t, launch), "another stream's");
    feed_good(SYNC("cudaDeviceSynchronize", "device", ",'device':1"));
    cr_assert_null(trace_wait(t, launch), "another device's");
    feed_good(SYNC("cudaStreamSynchronize", "stream", ",'stream':0"));
    cr_assert_eq(trace_wait(t, launch), t->all[5]);
    feed_good(copies_a_to_x);
    cr_assert_eq(trace_wait(t, t->all[6]), t->all[6], "it waits for itself");
    feed_good(LAUNCH("f()", "[]", ""));
    feed_good(SYNC("cudaDeviceSynchronize", "device", ""));
    cr_assert_eq(trace_wait(t, t->all[7]), t->all[8]);
    feed_good(LAUNCH("f()", "[]", ",'device':1"));
    feed_good(frees_x);
    cr_assert_eq(trace_wait(t, t->all[9]), t->all[10], "all of all devices");
}

Test(trace, knows_that_the_default_stream_waits_for_the_others_of_its_device)
{
    feed_good(copies_y_to_c); // in stream 2
    feed_good(SYNC("cudaStreamSynchronize", "stream", ",'stream':0,'device':1"));
    feed_good(SYNC("cudaStreamSynchronize", "stream", ",'stream':2,'device':1"));
    cr_assert_null(trace_wait(t, t->all[0]));
    feed_good(SYNC("cudaStreamSynchronize", "stream", ",'stream':0"));
    cr_assert_eq(trace_wait(t, t->all[0]), t->all[3]);
}

Test(trace, knows_what_an_event_stands_for)
{
    static const char records[] = CALL("cudaEventRecord", "record") ",'event_id':5,'stream':0}",
                      of_2[] = CALL("cudaEventRecord", "record") ",'event_id':6,'stream':2}";
    feed_good(records);
    feed_good(LAUNCH("f()", "[]", ""));
    feed_good(of_2);
    feed_good(SYNC("cudaEventSynchronize", "event", ",'event_id':5"));
    feed_good(SYNC("cudaEventSynchronize", "event", ",'event_id':6"));
    cr_assert_null(trace_wait(t, t->all[1]), "one from before, and one of another stream");
    feed_good(records);
    cr_assert_null(trace_wait(t, t->all[1]));
    feed_good(SYNC("cudaEventSynchronize", "event", ",'event_id':5"));
    cr_assert_eq(trace_wait(t, t->all[1]), t->all[6]);
    feed_good(CALL("cudaEventQuery", "wait") ",'asks':'event','event_id':5,'status':600}");
    cr_assert(t->all[7]->asks == UNTIL_EVENT && !t->all[7]->waits && t->all[7]->read == ERROR_NONE);
}

Test(trace, knows_which_errors_were_read)
{
    feed_good(LAUNCH("f()", "[]", ",'status':9,'ignored':true"));
    feed_good(LAUNCH("f()", "[]", ",'status':9"));
    feed_good(LAUNCH("f()", "[]", ",'ignored':true"));
    cr_assert_eq(trace_unread(t, NULL), t->all[0]);
    cr_assert_null(trace_unread(t, t->all[0]), "the others are returned, or are none");
    cr_assert_eq(t->all[1]->read, ERROR_RETURNED);
    feed_good(
        CALL("cudaGetLastError", "check") ",'caller':{'object':'/x/worker','address':'0x1800'}}");
    cr_assert_eq(trace_unread(t, NULL), t->all[0], "the harness does not count");
    feed_good(CALL("cudaGetLastError", "check") "}");
    cr_assert_null(trace_unread(t, NULL));
    cr_assert_eq(t->all[0]->read, ERROR_READ);
    feed_good(LAUNCH("f()", "[]", ",'status':9,'ignored':true"));
    events_new_call(&e);
    feed_good(CALL("cudaGetLastError", "check") "}");
    cr_assert_eq(t->all[4]->read, ERROR_UNREAD, "it was read in another call of the function");
}

Test(trace, has_the_lines_once_they_are_told)
{
    static const char at_3[] = CALL("cudaFree", "free") ",'address':'0x200000100000','site':3}";
    feed_good(at_3);
    cr_assert_null(t->all[0]->file);
    feed_good("{'event':'site','site':4,'file':'y.cu','line':9}");
    feed_good("{'event':'site','site':3,'file':'x.cu','line':7}");
    feed_good("{'event':'site','site':5,'file':'z.cu','line':1}");
    feed_good(at_3);
    for (size_t n = 0; n < 2; n++) {
        cr_assert_str_eq(t->all[n]->file, "x.cu");
        cr_assert_eq(t->all[n]->line, 7);
    }
}

Test(trace, has_rows_and_fills)
{
    feed_good(CALL("cudaMemcpy2D",
                   "copy") ",'kind':'HtoD','bytes':160,'to':'0x200000100000','from':'0x10',"
                           "'rows':5,'width':32,'pitch':[64,40],'within':true}");
    feed_good(CALL("cudaMemset", "fill") ",'bytes':160,'to':'0x200000100000','value':7}");
    const Traced *c = t->all[0], *f = t->all[1];
    cr_assert(c->rows == 5 && c->width == 32 && c->to_pitch == 64 && c->from_pitch == 40);
    cr_assert(c->bytes == 160 && c->within);
    cr_assert(f->rows == 1 && f->width == 160 && f->value == 7 && f->does == DEED_FILL);
}

// A program may ask for anything.
Test(trace, has_numbers_of_any_size)
{
    feed_good(CALL("cudaMalloc", "alloc") ",'memory':'device','bytes':-1,'status':2}");
    feed_good(
        CALL("cudaLaunchKernel",
             "launch") ",'grid':[4294967295,1,1],'block':[-1,1,1],'arguments':[],'status':9}");
    cr_assert_eq(t->all[0]->bytes, UINT64_MAX);
    cr_assert(t->all[1]->grid[0] == UINT32_MAX && t->all[1]->block[0] == UINT32_MAX);
    cr_assert_null(t->all[1]->signature);
}

// The counters of a timeline's calls, and nothing in the trace.
Test(trace, takes_a_call_of_a_timeline_for_its_times_alone)
{
    feed_good("{'event':'call','name':'a','did':'launch','start_ns':1,'end_ns':11}");
    cr_assert_eq(t->count, 0);
    cr_assert_eq(json_integer_value(json_object_get(e.counters, "cuda_api__time_ns.sum")), 10);
    feed_good(LAUNCH("f()", "[]", ""));
    cr_assert_eq(t->count, 1);
    events_end_call(&e);
    feed_good("{'event':'call','name':'a','did':'launch','start_ns':1,'end_ns':11}");
    cr_assert_eq(json_integer_value(json_object_get(e.counters, "cuda_api__time_ns.sum")), 10);
    cr_assert_eq(json_integer_value(json_object_get(e.counters, "cuda_api__launch_calls.sum")), 1);
}

Test(trace, refuses_what_is_no_call)
{
    static const char *const lines[] = {
        "{'event':'call'}",
        "{'event':'call','name':1}",
        CALL("f", "nothing") "}",
        "{'event':'call','does':'reset'}",
        CALL("f", "fill") "}",
        CALL("f", "prefetch") ",'bytes':1}",
        CALL("f", "variable") "}",
        CALL("f", "free") ",'address':5}",
        CALL("f", "free") ",'address':'0x'}",
        CALL("f", "free") ",'address':'0x12g'}",
        CALL("f", "alloc") ",'memory':'device','bytes':'1'}",
        CALL("f", "alloc") ",'memory':'paper','bytes':1}",
        CALL("f", "copy") ",'kind':'HtoD','to':'0x1','bytes':1}",
        CALL("f", "copy") ",'kind':'HtoD','to':'0x1','from':'0x1','bytes':1,'pitch':[1]}",
        CALL("f", "wait") ",'waits':'godot'}",
        CALL("f", "wait") ",'device':-1}",
        CALL("f", "reset") ",'status':'1'}",
        CALL("f", "launch") ",'grid':[1,1],'block':[1,1,1],'arguments':[]}",
        CALL("f", "launch") ",'grid':[1,1,1],'block':[1,1,1],'arguments':[[8]]}",
        CALL("f", "launch") ",'grid':[1,1,1],'block':[1,1,1],'arguments':[[4,'1']]}",
        CALL("f", "launch") ",'grid':[1,1,1],'block':[1,1,1],'arguments':[[80,1,2,3,4,5,6,7,8,9]]}",
        CALL("f", "launch") ",'grid':[1,1,1],'block':[1,1,1],'arguments':[[-8]]}",
        "{'event':'call','again':1}",
        "{'event':'call','does':'poem','left_out':1}",
        "{'event':'call','does':'copy','left_out':-1}",
        "{'event':'site','site':1,'line':1}",
        "{'event':'site','site':1,'file':'x','line':'1'}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        begin();
        feed(lines[i]);
        cr_expect_not_null(e.malformed, "%s", lines[i]);
        cr_expect_eq(t->count, 0, "%s", lines[i]);
    }
}
