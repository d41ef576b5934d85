// study COMMAND [LESSON]: what `make hint-5` and its neighbours run. hint, quiz, reset, profile,
// compare and watch take a lesson's name; progress takes none, and watch need not. replay takes a
// token and a file ("": the exercise).
#include "study.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*act)(const Lesson *);
} commands[] = {
    { "hint", hint },       { "quiz", quiz },       { "reset", reset },
    { "profile", profile }, { "compare", compare }, { "watch", watch },
};

static const Lesson *find(const char *name)
{
    const Lesson *list;
    size_t count = lessons(&list);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    return NULL;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    const char *command = argc > 1 ? argv[1] : "";
    if (argc == 2 && strcmp(command, "progress") == 0) return progress();
    if (argc == 2 && strcmp(command, "watch") == 0) return watch(NULL);

    if (argc == 4 && strcmp(command, "replay") == 0) return replay(argv[2], argv[3]);

    const Lesson *lesson = argc == 3 ? find(argv[2]) : NULL;
    for (size_t i = 0; lesson && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, command) == 0) return commands[i].act(lesson);
    fprintf(stderr,
            "usage: %s progress\n"
            "       %s hint|quiz|reset|profile|compare|watch LESSON\n"
            "       %s replay TOKEN FILE\n",
            argv[0], argv[0], argv[0]);
    return 2;
}
