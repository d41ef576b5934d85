// The streams of a capture, and the events recorded in it, each with the nodes that come last
// there.
#pragma once
#include "graph.h"

typedef struct {
    Node **nodes;
    size_t count;
} Tips;

typedef struct Member { // a stream of a capture, or an event recorded in one
    struct Member *next;
    uint64_t id;
    Tips tips;
} Member;

bool tips_add(Tips *tips, Node *node); // false: no memory
bool tips_join(Tips *to, const Tips *from);

Member *member_find(Member *list, uint64_t id);
Member *member_add(Member **list, uint64_t id); // that one, or a new one; NULL: no memory
void members_free(Member *list);
