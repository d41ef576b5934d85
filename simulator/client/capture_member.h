// The members of a capture: its streams and the events recorded in it, each with its latest nodes.
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

bool tips_add(Tips *tips, Node *node); // false: out of memory
bool tips_join(Tips *to, const Tips *from);

Member *member_find(Member *list, uint64_t id);
Member *member_add(Member **list, uint64_t id); // finds or makes it; NULL: out of memory
void members_free(Member *list);
