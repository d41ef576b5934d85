// The lessons are what lies in lessons/; their texts are read section by section.
#define _GNU_SOURCE
#include "study.h"
#include "text.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>

size_t lessons(const Lesson **list)
{
    static Lesson *all;
    static size_t count;
    glob_t found;
    if (!all && glob("lessons/[0-9][0-9]-*.md", 0, NULL, &found) == 0) {
        all = calloc(found.gl_pathc, sizeof *all);
        for (; count < found.gl_pathc; count++) {
            char *name = strdup(basename(found.gl_pathv[count]));
            name[strlen(name) - strlen(".md")] = 0;
            all[count] = (Lesson){ .number = atoi(name),
                                   .name = name,
                                   .exercise = text_format("exercises/%s.cu", name) };
        }
        globfree(&found);
    }
    *list = all;
    return count;
}

const Lesson *lesson_after(int number)
{
    const Lesson *list;
    size_t count = lessons(&list);
    for (size_t i = 0; i < count; i++)
        if (list[i].number > number) return &list[i];
    return NULL;
}

static FILE *open_text(const Lesson *lesson)
{
    char *path = text_format("lessons/%s.md", lesson->name);
    FILE *f = fopen(path, "re");
    free(path);
    return f;
}

// "### Hint" is of level 3; 0: no heading.
static size_t level_of(const char *line)
{
    size_t n = strspn(line, "#");
    return line[n] == ' ' ? n : 0;
}

// The heading's line starts with these words, and then they end.
static bool is_heading(const char *line, const char *heading)
{
    size_t n = strlen(heading);
    return strncmp(line, heading, n) == 0 && strchr(" :,\n", line[n]);
}

static char *title_of(const char *line)
{
    const char *colon = strchr(line, ':');
    const char *words = colon ? colon + 1 + strspn(colon + 1, " ") : "";
    return strndup(words, strcspn(words, "\n{"));
}

char *lesson_section(const Lesson *lesson, const char *heading, char **title)
{
    char *line = NULL, *section = NULL;
    size_t room = 0, bytes, level = level_of(heading);
    bool code = false, inside = false;
    FILE *in = open_text(lesson), *out = NULL;
    while (in && getline(&line, &room, in) >= 0) {
        code ^= strncmp(line, "```", 3) == 0;
        size_t here = code ? 0 : level_of(line);
        if (inside && here && here <= level) break;
        if (inside) {
            fputs(line, out);
        } else if (here == level && is_heading(line, heading)) {
            inside = true;
            *title = title_of(line);
            out = open_memstream(&section, &bytes);
        }
    }
    free(line);
    if (in) fclose(in);
    if (out) fclose(out);
    return section;
}

char *lesson_title(const Lesson *lesson)
{
    char *line = NULL;
    size_t room = 0;
    FILE *in = open_text(lesson);
    bool good = in && getline(&line, &room, in) >= 0 && strncmp(line, "# ", 2) == 0;
    if (in) fclose(in);
    if (good) line[strcspn(line, "\n{")] = 0;
    char *title = page_plain(good ? line + 2 : lesson->name);
    free(line);
    return title;
}
