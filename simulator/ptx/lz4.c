// A block is a row of sequences, of which the last ends with its literals:
//
//   token     high four bits: how many literals; low four: how long the match is, less 4
//   more      of either that is 15: bytes to be added to it, up to the first that is not 255
//   literals  copied as they are (behind them, what follows for the match)
//   offset    u16: so far back begins the match, which may reach into itself

#include "lz4.h"
#include <string.h>

enum { ALL_FOUR_BITS = 15, SHORTEST_MATCH = 4 };

typedef struct { const u8 *at, *end; } Source;

// The length that those four bits begin. False: it goes on behind the end.
static bool read_length(Source *from, unsigned bits, size_t *length)
{
    *length = bits;
    for (u8 more = 255; bits == ALL_FOUR_BITS && more == 255; *length += more) {
        if (from->at == from->end)
            return false;
        more = *from->at++;
    }
    return true;
}

size_t lz4_unpack(const u8 *data, size_t bytes, u8 *to, size_t room)
{
    Source from = { data, data + bytes };
    size_t done = 0, length;
    while (from.at < from.end) {
        unsigned token = *from.at++;
        if (!read_length(&from, token >> 4, &length) || length > (size_t)(from.end - from.at) || length > room - done)
            return 0;
        memcpy(to + done, from.at, length);
        done += length;
        from.at += length;
        if (from.at == from.end)
            return done;
        if (from.end - from.at < 2)
            return 0;
        size_t back = from.at[0] | (size_t)from.at[1] << 8;
        from.at += 2;
        if (!read_length(&from, token & ALL_FOUR_BITS, &length) || !back || back > done || length + SHORTEST_MATCH > room - done)
            return 0;
        for (length += SHORTEST_MATCH; length; length--, done++)
            to[done] = to[done - back];
    }
    return 0;
}
