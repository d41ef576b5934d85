// The readers of a line or cell (shadow.h). It holds up to two itself; with more, read[1] names a
// ReaderList.
#pragma once
#include <stdlib.h>
#include <string.h>

#include "shadow.h"
#include "base/need.h"

static const u32 READER_LIST = 1u << 31; // marks read[1] as the index of a ReaderList

static inline u32 readers_of(const Shadow *s, const u32 read[2], u32 readers[MOST_READERS])
{
    readers[0] = read[0];
    readers[1] = read[1];
    if (!(read[1] & READER_LIST)) return (read[0] != 0) + (read[1] != 0);
    const ReaderList *m = &s->reader_lists[read[1] & ~READER_LIST];
    for (u32 n = 0; n < m->count; n++) readers[1 + n] = m->read[n];
    return 1 + m->count;
}

static inline u32 alloc_reader_list(Shadow *s)
{
    u32 n = s->free_reader_lists;
    if (n) {
        s->free_reader_lists = s->reader_lists[n].read[0];
        return n;
    }
    if (s->reader_lists_count >= s->reader_lists_room) {
        s->reader_lists_room = s->reader_lists_room ? 2 * s->reader_lists_room : 64;
        s->reader_lists =
            need(realloc(s->reader_lists, s->reader_lists_room * sizeof *s->reader_lists));
    }
    return s->reader_lists_count++;
}

static inline void set_reader_list(Shadow *s, u32 read[2], const u32 *readers, u32 count)
{
    u32 more = read[1] & READER_LIST ? read[1] & ~READER_LIST : alloc_reader_list(s);
    s->reader_lists[more].count = count - 1;
    memcpy(s->reader_lists[more].read, readers + 1, (count - 1) * sizeof *readers);
    read[0] = readers[0];
    read[1] = READER_LIST | more;
}

static inline void free_reader_list(Shadow *s, u32 more)
{
    s->reader_lists[more].read[0] = s->free_reader_lists;
    s->free_reader_lists = more;
}

static inline void set_readers(Shadow *s, u32 read[2], const u32 *readers, u32 count)
{
    if (count > 2) {
        set_reader_list(s, read, readers, count);
        return;
    }
    if (read[1] & READER_LIST) free_reader_list(s, read[1] & ~READER_LIST);
    read[0] = count > 0 ? readers[0] : 0;
    read[1] = count > 1 ? readers[1] : 0;
}

static inline void drop_readers(Shadow *s, u32 read[2]) { set_readers(s, read, NULL, 0); }
