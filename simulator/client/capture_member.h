// The members of a capture: its streams, and the events recorded on them, each with its tips. The
// tips of a stream are the nodes on which its next operation will depend (capture.c).
#pragma once
#include "graph.h"

typedef struct {
    Node **nodes;
    size_t count;
} Tips;

typedef struct Member { // a stream, or an event
    struct Member *next;
    uint64_t id;
    Tips tips;
} Member;

bool tips_add(Tips *tips, Node *node); // false: out of memory
bool tips_join(Tips *to, const Tips *from);

Member *member_find(Member *list, uint64_t id);
Member *member_add(Member **list, uint64_t id); // finds the member or adds it; NULL: out of memory
void members_free(Member *list);
