#define _GNU_SOURCE
#include "class.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

char *roster_name(const char *name)
{
    utf8proc_uint8_t *composed = utf8proc_NFC((const utf8proc_uint8_t *)name);
    return composed ? (char *)composed : strdup(name); // what is not UTF-8 stays as it is
}

Student *roster_find(const Class *c, const char *name)
{
    Student *found = NULL;
    char *wanted = roster_name(name);
    for (size_t n = 0; n < c->students && !found; n++)
        if (strcmp(c->student[n].name, wanted) == 0) found = &c->student[n];
    free(wanted);
    return found;
}

Student *roster_add(Class *c, const char *name)
{
    c->student = reallocarray(c->student, c->students + 1, sizeof *c->student);
    Student *s = &c->student[c->students++];
    *s = (Student){ .name = roster_name(name) };
    secret_keyed("student", s->name, s->pseudonym, PSEUDONYM_DIGITS);
    return s;
}

static bool read_students(Class *c, const char *path)
{
    Table t;
    if (!table_read(&t, path, (const char *const[]){ "student", NULL })) return false;
    for (size_t n = 0; n < t.rows; n++) {
        const char *name = table_cell(&t, n, "student"),
                   *hands_in = table_cell(&t, n, "submission");
        if (!*name) return table_amiss(&t, n, "the student has no name; fill in the cell");
        if (roster_find(c, name))
            return table_amiss(&t, n,
                               "'%s' stands twice in the column `student`. Make the names differ, "
                               "and name the folders in a column `submission`",
                               name);
        Student *s = roster_add(c, name);
        if (*hands_in) s->hands_in = roster_name(hands_in);
    }
    return true;
}

static bool read_groups(Class *c, const char *path, bool listed)
{
    Table t;
    if (!table_read(&t, path, (const char *const[]){ "group", "student", NULL })) return false;
    for (size_t n = 0; n < t.rows; n++) {
        const char *group = table_cell(&t, n, "group"), *name = table_cell(&t, n, "student");
        if (!*group || !*name)
            return table_amiss(&t, n, "a cell is empty; fill in group and student");
        Student *s = roster_find(c, name);
        if (!s && listed)
            return table_amiss(&t, n,
                               "'%s' is not in roster.csv. Add the student there, or write "
                               "the name as it is there",
                               name);
        if (!s) s = roster_add(c, name);
        if (s->group)
            return table_amiss(&t, n, "'%s' is in the group '%s' already. Remove one of the rows",
                               name, s->group);
        s->group = roster_name(group);
    }
    return true;
}

bool roster_read(Class *c, bool *listed)
{
    char *roster = text_format("%s/roster.csv", c->grades),
         *groups = text_format("%s/groups.csv", c->grades);
    bool good = read_students(c, roster);
    *listed = c->students > 0;
    good = good && read_groups(c, groups, *listed);
    free(roster);
    free(groups);
    return good;
}

// Is the student meant by this name? How: as a group's member, as one who hands in under it, or as
// the student.
enum means { AS_GROUP, AS_HANDED_IN, AS_STUDENT, WAYS };

static bool is_meant(const Student *s, const char *name, size_t stem, enum means way)
{
    const char *called = way == AS_GROUP ? s->group : way == AS_HANDED_IN ? s->hands_in : s->name;
    if (!called) return false;
    return strcmp(called, name) == 0
        || (strlen(called) == stem && strncmp(called, name, stem) == 0);
}

size_t roster_members(const Class *c, const char *raw, size_t **members)
{
    char *name = roster_name(raw);
    size_t count = 0, stem = strlen(name) - found_suffix(name);
    const char *group = NULL;
    *members = calloc(c->students + 1, sizeof **members);
    for (int way = 0; way < WAYS && !count; way++)
        for (size_t n = 0; n < c->students; n++) {
            if (!is_meant(&c->student[n], name, stem, way)) continue;
            (*members)[count++] = n;
            group = c->student[n].group;
        }
    free(name);
    if (count != 1 || !group) return count;
    // What one member hands in is all the members'.
    count = 0;
    for (size_t n = 0; n < c->students; n++)
        if (c->student[n].group && strcmp(c->student[n].group, group) == 0) (*members)[count++] = n;
    return count;
}
