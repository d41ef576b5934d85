// Entries are only added. Only the process that added an entry writes it, and writes its key last.
#include <sys/mman.h>
#include <unistd.h>

#include "shared_event.h"
#include "base/need.h"

enum { MOST_SHARED_EVENTS = 4096 };

typedef struct SharedEvent {
    u64 key;     // 0: not published: other processes do not find it
    pid_t owner; // the device process
    u32 device;
    bool recorded;
    double at; // ns
} SharedEvent;

static struct {
    u32 count; // events that were requested, which may be more than MOST_SHARED_EVENTS
    SharedEvent events[MOST_SHARED_EVENTS];
} * table;

void shared_events_make(void)
{
    table = need(mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

static SharedEvent *event_of(u32 number) { return &table->events[number - 1]; }

u32 shared_event_add(u32 device)
{
    u32 at = __atomic_fetch_add(&table->count, 1, __ATOMIC_RELAXED);
    if (at >= MOST_SHARED_EVENTS) return 0;
    table->events[at] = (SharedEvent){ .owner = getpid(), .device = device };
    return at + 1;
}

void shared_event_publish(u32 number, u64 key)
{
    __atomic_store_n(&event_of(number)->key, key, __ATOMIC_RELEASE);
}

u64 shared_event_key(u32 number) { return event_of(number)->key; }

SharedEventFacts shared_event_find(u64 key)
{
    for (u32 n = 0; key && n < table->count && n < MOST_SHARED_EVENTS; n++) {
        const SharedEvent *e = &table->events[n];
        if (__atomic_load_n(&e->key, __ATOMIC_ACQUIRE) == key)
            return (SharedEventFacts){ n + 1, e->device, e->owner == getpid() };
    }
    return (SharedEventFacts){ 0 };
}

void shared_event_record(u32 number, double at)
{
    SharedEvent *e = event_of(number);
    e->at = at;
    __atomic_store_n(&e->recorded, true, __ATOMIC_RELEASE);
}

bool shared_event_at(u32 number, double *at)
{
    const SharedEvent *e = event_of(number);
    bool recorded = __atomic_load_n(&e->recorded, __ATOMIC_ACQUIRE);
    if (recorded) *at = e->at;
    return recorded;
}
