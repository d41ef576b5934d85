// An H200's heap is a tree: a node has a head and 24 slots, of which each is a node of the next
// level, down to slots of 80 bytes. What is allocated, with 16 bytes more, takes slots of one node
// that lie side by side, of the smallest kind of which 24 are enough. At the top are as many of the
// largest nodes as the heap has room for, then as many of the next, and so on. So the largest block
// of a heap of 8 MiB has 7,674,032 bytes, and of 1024 bytes there are 3,778.
//
// Nothing lies here but the count: heap.c has the memory.
#include "heap_room.h"
#include "base/need.h"
#include <stdlib.h>

enum {
    SLOTS = 24,
    MOST_SLOTS = 27, // of a node; at the top, where what is left is less than a node
    LEAST = 80,
    HEAD = 288,
    ADDED = 16,
    LEVELS = 10
};

typedef struct HeapNode {
    struct HeapNode *parent; // NULL: it is at the top
    u32 place;               // its slot there
    u32 level;               // of its slots: 0: of the least bytes
    u32 free, all;           // a bit for each slot
    struct HeapNode *next, **at;
} HeapNode;

struct HeapRoom {
    u64 bytes[LEVELS];                      // of a slot
    HeapNode *open[LEVELS][MOST_SLOTS + 1]; // nodes, by the most free slots side by side
};

static u32 longest_run(u32 bits)
{
    u32 length = 0;
    for (; bits; bits &= bits << 1) length++;
    return length;
}

static u32 first_run(u32 bits, u32 length)
{
    for (u32 i = 1; i < length; i++) bits &= bits >> 1;
    return (u32)__builtin_ctz(bits);
}

static void open_node(HeapRoom *h, HeapNode *node)
{
    HeapNode **list = &h->open[node->level][longest_run(node->free)];
    node->next = *list;
    node->at = list;
    if (node->next) node->next->at = &node->next;
    *list = node;
}

static void close_node(HeapNode *node)
{
    *node->at = node->next;
    if (node->next) node->next->at = node->at;
}

static void set_free(HeapRoom *h, HeapNode *node, u32 free)
{
    close_node(node);
    node->free = free;
    open_node(h, node);
}

static void add_node(HeapRoom *h, u32 level, u32 slots, HeapRun in)
{
    u32 all = (1u << slots) - 1;
    HeapNode *node = need(calloc(1, sizeof *node));
    *node =
        (HeapNode){ .parent = in.node, .place = in.first, .level = level, .free = all, .all = all };
    open_node(h, node);
}

HeapRoom *heap_room_make(u64 limit)
{
    HeapRoom *h = need(calloc(1, sizeof *h));
    u64 left = limit > ADDED ? limit - ADDED : 0;
    h->bytes[0] = LEAST;
    for (u32 l = 1; l < LEVELS; l++) h->bytes[l] = HEAD + SLOTS * h->bytes[l - 1];
    for (u32 l = LEVELS; l-- > 0; left %= h->bytes[l])
        if (left >= h->bytes[l]) add_node(h, l, (u32)(left / h->bytes[l]), (HeapRun){ 0 });
    return h;
}

void heap_room_free(HeapRoom *h)
{
    if (!h) return;
    for (u32 l = 0; l < LEVELS; l++)
        for (u32 run = 0; run <= MOST_SLOTS; run++)
            for (HeapNode *next, *node = h->open[l][run]; node; node = next) {
                next = node->next;
                free(node);
            }
    free(h);
}

// Where there is no such run, a slot of the level above is made a node.
static bool take(HeapRoom *h, u32 level, u32 count, HeapRun *to)
{
    for (u32 run = count; run <= MOST_SLOTS; run++) {
        HeapNode *node = h->open[level][run];
        if (!node) continue;
        *to = (HeapRun){ node, first_run(node->free, count), count };
        set_free(h, node, node->free & ~(((1u << count) - 1) << to->first));
        return true;
    }
    HeapRun above;
    if (level + 1 == LEVELS || !take(h, level + 1, 1, &above)) return false;
    add_node(h, level, SLOTS, above);
    return take(h, level, count, to);
}

bool heap_room_take(HeapRoom *h, u64 bytes, HeapRun *to)
{
    u32 level = 0;
    if (bytes > UINT64_MAX - ADDED) return false;
    while (level < LEVELS && (bytes + ADDED - 1) / h->bytes[level] >= SLOTS) level++;
    return level < LEVELS && take(h, level, (u32)((bytes + ADDED - 1) / h->bytes[level]) + 1, to);
}

// A node with nothing in it is a slot again.
void heap_room_give(HeapRoom *h, HeapRun run)
{
    HeapNode *node = run.node;
    set_free(h, node, node->free | ((1u << run.count) - 1) << run.first);
    if (!node->parent || node->free != node->all) return;
    close_node(node);
    heap_room_give(h, (HeapRun){ node->parent, node->place, 1 });
    free(node);
}
