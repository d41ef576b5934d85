// Commands whose output is read line by line.
#define _GNU_SOURCE
#include "accuracy.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool command_open(Command *command, const char *format, ...)
{
    char *words = NULL;
    va_list list;
    *command = (Command){ 0 };
    va_start(list, format);
    if (vasprintf(&words, format, list) >= 0) command->pipe = popen(words, "r");
    va_end(list);
    free(words);
    command->status = command->pipe ? 0 : -1;
    return command->pipe;
}

char *command_line(Command *command)
{
    ssize_t length = command->pipe ? getline(&command->line, &command->room, command->pipe) : -1;
    if (length < 0) {
        if (command->pipe) command->status = pclose(command->pipe);
        command->pipe = NULL;
        free(command->line);
        command->line = NULL;
        return NULL;
    }
    if (length && command->line[length - 1] == '\n') command->line[length - 1] = 0;
    return command->line;
}
