#define _GNU_SOURCE
#include "worker.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_THREADS = 256 };

typedef struct Thing {
    void (*work)(void *);
    void *with;
} Thing;

static u32 wanted;
static bool tried; // to start the threads
static u32 beside; // threads that were started
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;

// Under the mutex:
static Thing things[WORKER_BEHIND]; // jobs that are not done, a ring
static u32 first_thing, thing_count;
static bool at_it;                     // a thread runs the first job
static void (*shared)(void *, u32 me); // NULL: no shared job
static void *shared_with;
static u32 shares, inside; // shared jobs so far; threads in the latest
static atomic_uint
    news; // changes with everything that a thread may wait for; also read without the mutex

void worker_threads(u32 count) { wanted = count; }

static u64 now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void tell(pthread_cond_t *whom)
{
    news++;
    pthread_cond_broadcast(whom);
}

static inline void spin_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

// Called with the mutex held. The host takes longer to wake a thread than most jobs are apart, so
// the thread first polls for a while.
static void wait_for_news(pthread_cond_t *from)
{
    enum { LOOKS = 100, NS = 100000 };
    u32 known = news;
    pthread_mutex_unlock(&mutex);
    for (u64 end = now() + NS; news == known && now() < end; sched_yield())
        for (u32 n = 0; n < LOOKS && atomic_load_explicit(&news, memory_order_relaxed) == known;
             n++)
            spin_pause();
    pthread_mutex_lock(&mutex);
    if (news == known) pthread_cond_wait(from, &mutex);
}

// Called with the mutex held while no thread runs the first job.
static void do_first(void)
{
    Thing thing = things[first_thing];
    at_it = true;
    pthread_mutex_unlock(&mutex);
    thing.work(thing.with);
    pthread_mutex_lock(&mutex);
    at_it = false;
    first_thing = (first_thing + 1) % WORKER_BEHIND;
    thing_count--;
    tell(&done);
}

static void do_share(u32 me)
{
    void (*work)(void *, u32) = shared;
    void *with = shared_with;
    inside++;
    pthread_mutex_unlock(&mutex);
    work(with, me);
    pthread_mutex_lock(&mutex);
    if (!--inside) tell(&done);
}

static void *run(void *number)
{
    u32 me = (u32)(uintptr_t)number, last = 0;
    pthread_mutex_lock(&mutex);
    for (;;) {
        if (thing_count && !at_it) do_first();
        else if (shared && last != shares) last = shares, do_share(me);
        else wait_for_news(&asked);
    }
    return NULL;
}

static u32 cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (u32)CPU_COUNT(&set);
}

// Signals are for the thread that serves the program. If no thread can be started, everything is
// done as with one.
static void start(void)
{
    tried = true;
    u32 count = wanted ? wanted : cores();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pthread_t thread; beside + 1 < count && beside + 1 < MOST_THREADS; beside++)
        if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)(beside + 1))) break;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

u32 worker_count(void)
{
    if (!tried) start();
    return beside + 1;
}

// Waits until at most that many jobs are left.
static void wait_for(u32 left)
{
    pthread_mutex_lock(&mutex);
    while (thing_count > left) {
        if (at_it) wait_for_news(&done);
        else do_first();
    }
    pthread_mutex_unlock(&mutex);
}

void worker_wait(void)
{
    if (beside) wait_for(0);
}

void worker_do(void (*work)(void *), void *with)
{
    if (worker_count() < 2) {
        work(with);
        return;
    }
    wait_for(WORKER_BEHIND - 1);
    pthread_mutex_lock(&mutex);
    things[(first_thing + thing_count++) % WORKER_BEHIND] = (Thing){ work, with };
    tell(&asked);
    pthread_mutex_unlock(&mutex);
}

void worker_share(void (*work)(void *, u32 me), void *with)
{
    bool others = worker_count() > 1;
    pthread_mutex_lock(&mutex);
    shared = work;
    shared_with = with;
    shares++;
    if (others) tell(&asked);
    pthread_mutex_unlock(&mutex);
}

void worker_join(void)
{
    shared(shared_with, 0);
    pthread_mutex_lock(&mutex);
    shared = NULL; // a thread that wakes up now finds no job
    while (inside) wait_for_news(&done);
    pthread_mutex_unlock(&mutex);
}
