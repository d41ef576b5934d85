#define _GNU_SOURCE
#include "worker.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

static u32 threads;
static bool tried, runs;        // to start the thread; it has started
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static void (*work)(void *);    // under the mutex; NULL: all is done
static void *with;

void worker_threads(u32 count) { threads = count; }

static void *run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!work) pthread_cond_wait(&asked, &mutex);
        pthread_mutex_unlock(&mutex);
        work(with);
        pthread_mutex_lock(&mutex);
        work = NULL;
        pthread_cond_broadcast(&done);
    }
    return NULL;
}

static u32 cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (u32)CPU_COUNT(&set);
}

// Signals are for the thread that serves the program. Without the thread, all is done as with one.
static bool start(void)
{
    tried = true;
    if ((threads ? threads : cores()) < 2) return false;
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

void worker_wait(void)
{
    if (!runs) return;
    pthread_mutex_lock(&mutex);
    while (work) pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

void worker_do(void (*next)(void *), void *next_with)
{
    if (!tried) runs = start();
    if (!runs) {
        next(next_with);
        return;
    }
    worker_wait();
    pthread_mutex_lock(&mutex);
    work = next;
    with = next_with;
    pthread_cond_signal(&asked);
    pthread_mutex_unlock(&mutex);
}
