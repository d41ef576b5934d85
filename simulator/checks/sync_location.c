// A hash table of synchronisation locations, by address.
#include "sync_location.h"
#include <stdlib.h>
#include <string.h>

#include "base/need.h"

static struct {
    SyncLocation *locations;
    u32 count, room;
} table; // half of it is empty

static void free_location(SyncLocation *p)
{
    for (u32 scope = SYNC_CTA; scope < SYNC_SCOPES; scope++) vector_clock_free(&p->released[scope]);
    vector_clock_free(&p->written);
    vector_clock_free(&p->if_fenced);
    vector_clock_free(&p->loads);
}

u32 sync_locations_count(void) { return table.count; }

void sync_locations_clear(void)
{
    for (u32 n = 0; table.count && n < table.room; n++) free_location(&table.locations[n]);
    if (table.count) memset(table.locations, 0, table.room * sizeof *table.locations);
    table.count = 0;
}

static SyncLocation *slot_for(SyncLocation *locations, u32 room, u64 key)
{
    u32 n = (key * 0x9e3779b97f4a7c15ull) >> 32 & (room - 1);
    while (locations[n].key && locations[n].key != key) n = (n + 1) & (room - 1);
    return &locations[n];
}

static void grow(void)
{
    u32 room = table.room ? 2 * table.room : 256;
    SyncLocation *larger = need(calloc(room, sizeof *larger));
    for (u32 n = 0; n < table.room; n++)
        if (table.locations[n].key)
            *slot_for(larger, room, table.locations[n].key) = table.locations[n];
    free(table.locations);
    table.locations = larger;
    table.room = room;
}

// The shared memory of each slot has locations of its own; what ended blocks left there matters to
// no reader.
static u64 key_of(const Access *a, u64 address)
{
    return a->space == SPACE_SHARED ? (u64)a->owner->shared + address : address;
}

SyncLocation *sync_location_find(const Access *a, u64 address, bool make)
{
    u64 key = key_of(a, address);
    if (make && 2 * table.count >= table.room) grow();
    if (!table.count && !make) return NULL;
    SyncLocation *p = slot_for(table.locations, table.room, key);
    if (p->key) return p;
    if (!make) return NULL;
    table.count++;
    p->key = key;
    return p;
}
