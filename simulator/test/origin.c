// Source lines of the program's own addresses, asked for by several threads at once: libdw alone
// would not stand it.
#define _GNU_SOURCE
#include "report/message.h"
#include "report/origin.h"
#include "report/report.h"
#include "runtime/serve.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 40 };

static const struct {
    void *function;
    const char *file;
} functions[] = {
    { origin_place, "origin.c" },
    { message_make, "message.c" },
    { serve, "serve.c" },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static pthread_barrier_t together;

// The functions that got another file's name, or none.
static void *ask(void *first)
{
    size_t wrong = 0;
    pthread_barrier_wait(&together);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        size_t f = (i + (size_t)first) % FUNCTIONS;
        u64 caller = (u64)functions[f].function + 1;
        Place place;
        const char *end = origin_place(&caller, 1, &place) ? strrchr(place.file, '/') : NULL;
        wrong += !end || strcmp(end + 1, functions[f].file) != 0;
    }
    return (void *)wrong;
}

Test(origin, is_told_to_several_threads_at_once)
{
    pthread_barrier_init(&together, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) { // each begins with nothing read
        pthread_t thread[THREADS];
        origin_open(getpid());
        for (size_t t = 0; t < THREADS; t++)
            cr_assert_eq(pthread_create(&thread[t], NULL, ask, (void *)t), 0);
        for (size_t t = 0; t < THREADS; t++) {
            void *wrong;
            pthread_join(thread[t], &wrong);
            cr_assert_eq((size_t)wrong, 0, "round %d: %zu of %d functions were not found", round,
                         (size_t)wrong, FUNCTIONS);
        }
        origin_close();
    }
}

// More calls than answers are kept of, each with a caller that others have too.
static void ask_for_many(bool known)
{
    for (size_t n = 0; n < 8 * FUNCTIONS; n++) {
        size_t f = n % FUNCTIONS, next = (f + 1) % FUNCTIONS;
        u64 callers[2] = { (u64)functions[f].function + 1 + n / FUNCTIONS,
                           (u64)functions[next].function + 1 };
        Place place;
        cr_assert_eq(origin_place(callers, 2, &place), known, "call %zu", n);
        if (known) cr_expect_str_eq(strrchr(place.file, '/') + 1, functions[f].file);
    }
}

Test(origin, answers_are_kept_until_the_program_is_another)
{
    origin_open(getpid());
    ask_for_many(true);
    ask_for_many(true);
    origin_close();
    ask_for_many(false);
}

// Which object made the call, and where in it, is told whether its line is known or not.
Test(origin, tells_the_object_that_calls)
{
    extern const char __ehdr_start[];
    u64 callers[2] = { (u64)origin_place + 1 };
    char path[4096] = { 0 };
    Place place;
    cr_assert_gt(readlink("/proc/self/exe", path, sizeof path - 1), 0);
    origin_open(getpid());
    cr_assert(origin_place(callers, 2, &place));
    cr_expect_str_eq(place.object, path);
    cr_expect_eq(place.address, callers[0] - (u64)__ehdr_start,
                 "of a program that may lie anywhere");
    callers[0] = (u64)getpid + 1; // of the C library, which has no lines here
    callers[1] = (u64)origin_place + 1;
    cr_assert(origin_place(callers, 2, &place));
    cr_expect_str_eq(strrchr(place.file, '/') + 1, "origin.c");
    cr_expect(strstr(place.object, "libc.so"), "%s", place.object);
    origin_close();
}
