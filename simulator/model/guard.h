// The pages of pinned memory that host code is kept from, so that the device is told of what it
// does there. Each page counts the pieces of work that want it guarded. The client is told of
// changes only (the request GUARDS), and opens a page by itself when host code comes to it.
#pragma once
#include "memory/memory.h"
#include "wire/wire.h"

// One more piece of work (`by` 1), or one less (-1), wants the pages of these bytes guarded.
void guard_pages(u64 address, u64 bytes, enum wire_guard, int by);

// The client has opened the page of this address.
void guard_opened(u64 address);

// Is there anything to tell the client?
bool guard_is_news(void);

// Takes up to `room` changes to tell the client. Returns how many.
size_t guard_take_news(WireGuard *to, size_t room);
