// A byte for each word. The pages of what nobody writes are never touched.
#define _GNU_SOURCE
#include "writer.h"
#include <string.h>
#include <sys/mman.h>

u8 *writers;

bool writer_keep(void)
{
    void *all = mmap(NULL, MEMORY_SPAN / WRITER_WORD, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    writers = all;
    return true;
}

static u64 first_word(u64 address) { return (address - MEMORY_BASE) / WRITER_WORD; }

static u64 word_count(u64 address, u64 bytes)
{
    return first_word(address + bytes + WRITER_WORD - 1) - first_word(address);
}

void writer_set(u64 address, u64 bytes, enum writer by)
{
    if (writers) memset(writers + first_word(address), (int)by, word_count(address, bytes));
}

void writer_copy(u64 to, u64 from, u64 bytes)
{
    if (!writers) return;
    u8 *here = writers + first_word(to);
    u64 count = word_count(to, bytes);
    memmove(here, writers + first_word(from), count);
    for (u64 n = 0; n < count; n++)
        if (here[n] == WRITER_OWNER) here[n] = WRITER_MOVED;
}

void writer_count(u64 address, u64 bytes, u64 words[WRITERS])
{
    if (!writers) return;
    const u8 *here = writers + first_word(address);
    for (u64 n = 0; n < word_count(address, bytes); n++) words[here[n]]++;
}

static bool is_devices(u8 by) { return by == WRITER_KERNEL || by == WRITER_FILL; }

u64 writer_run(u64 address, u64 bytes, bool *by_device)
{
    const u8 *here = writers + first_word(address);
    u64 count = word_count(address, bytes), n = 1;
    *by_device = is_devices(*here);
    while (n < count && is_devices(here[n]) == *by_device) n++;
    u64 run = n * WRITER_WORD;
    return run < bytes ? run : bytes;
}
