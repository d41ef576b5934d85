// Lists of a capture's members, and of their tips.

#include "capture_member.h"
#include <stdlib.h>

bool tips_add(Tips *tips, Node *node)
{
    for (size_t i = 0; i < tips->count; i++)
        if (tips->nodes[i] == node) return true;
    Node **more = realloc(tips->nodes, (tips->count + 1) * sizeof *more);
    if (!more) return false;
    tips->nodes = more;
    tips->nodes[tips->count++] = node;
    return true;
}

bool tips_join(Tips *to, const Tips *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (!tips_add(to, from->nodes[i])) return false;
    return true;
}

Member *member_find(Member *list, uint64_t id)
{
    while (list && list->id != id) list = list->next;
    return list;
}

Member *member_add(Member **list, uint64_t id)
{
    Member *new = member_find(*list, id);
    if (new) return new;
    new = calloc(1, sizeof *new);
    if (!new) return NULL;
    new->id = id;
    new->next = *list;
    *list = new;
    return new;
}

void members_free(Member *list)
{
    for (Member *next; list; list = next) {
        next = list->next;
        free(list->tips.nodes);
        free(list);
    }
}
