#define _GNU_SOURCE
#include "toolkit.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *toolkit_version(void)
{
    const char *nvcc = getenv("NVCC");
    char *command = text_format("'%s' --version 2>/dev/null", nvcc && *nvcc ? nvcc : "nvcc");
    char line[256], version[32], *found = NULL;
    FILE *f = popen(command, "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, ", V");
        if (!found && at && sscanf(at + 3, "%31[0-9.]", version) == 1) found = strdup(version);
    }
    if (f) pclose(f);
    free(command);
    return found;
}
