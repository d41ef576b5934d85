// Events that processes share: when each was last recorded, in a table that all device processes of
// the machine share.
#pragma once
#include "base/base.h"

void shared_events_make(void); // makes the table; to be called before a device process is forked

// Adds an event of a device of the machine. Returns its number; 0: there are too many.
u32 shared_event_add(u32 device);

// Lets other processes find the event by its key.
void shared_event_publish(u32 number, u64 key);
u64 shared_event_key(u32 number);

typedef struct SharedEventFacts {
    u32 number, device;
    bool own; // this process made it
} SharedEventFacts;

SharedEventFacts shared_event_find(u64 key); // number 0: none

// Sets the time of the latest record, in ns; reads it (false: not recorded yet).
void shared_event_record(u32 number, double at);
bool shared_event_at(u32 number, double *at);
