// Finds in an ELF file which CUDA runtime the program needs.

#define _GNU_SOURCE
#include "program.h"
#include "report/report.h"
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    bool elf;
    bool device_code; // it has a fat binary
    char runtime[64]; // "libcudart.so.12"; "": none
    char rpath[256];  // "": none
} Facts;

// Finds the file as execvp() does.
static int open_program(const char *program)
{
    const char *path = getenv("PATH");
    if (strchr(program, '/') || !path) return open(program, O_RDONLY | O_CLOEXEC);
    while (*path) {
        char file[PATH_MAX];
        int length = (int)strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", length, path, program);
        int fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) return fd;
        path += length + (path[length] == ':');
    }
    return -1;
}

static void read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, Facts *facts)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH) continue;
        const char *text = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        if (text && entry.d_tag == DT_RPATH)
            snprintf(facts->rpath, sizeof facts->rpath, "%s", text);
        else if (text && strncmp(text, "libcudart.so", 12) == 0)
            snprintf(facts->runtime, sizeof facts->runtime, "%s", text);
    }
}

static void read_sections(Elf *elf, Facts *facts)
{
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0) return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        if (!gelf_getshdr(section, &header)) continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name && strcmp(name, ".nv_fatbin") == 0) facts->device_code = true;
        if (header.sh_type == SHT_DYNAMIC) read_dynamic(elf, section, &header, facts);
    }
}

static Facts read_facts(const char *program)
{
    Facts facts = { 0 };
    int fd = open_program(program);
    if (fd < 0) return facts;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        facts.elf = true;
        read_sections(elf, &facts);
    }
    elf_end(elf);
    close(fd);
    return facts;
}

void program_explain(const char *program)
{
    Facts facts = read_facts(program);
    if (!facts.elf) return; // a script, for example, whose commands are not known
    bool right = strcmp(facts.runtime, "libcudart.so.13") == 0;
    if (right && facts.rpath[0])
        report_say("%s never reached the simulated device: its RPATH, %s, comes before "
                   "LD_LIBRARY_PATH. Link it without -rpath, or with -Xlinker --enable-new-dtags.",
                   program, facts.rpath);
    else if (right)
        report_say("%s never reached the simulated device, although it is linked with %s: it "
                   "found another one, or ended before main.",
                   program, facts.runtime);
    else if (facts.runtime[0])
        report_say("%s never reached the simulated device: it is linked with %s. Compile it with "
                   "CUDA 13: nvcc -cudart shared",
                   program, facts.runtime);
    else if (facts.device_code)
        report_say("%s never reached the simulated device: the CUDA runtime is linked into it "
                   "statically. Compile it with: nvcc -cudart shared",
                   program);
    else
        report_say("%s made no use of the simulated device: it is not linked with the CUDA "
                   "runtime. Compile it with: nvcc -cudart shared",
                   program);
}
