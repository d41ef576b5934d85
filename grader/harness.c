// Finds the harness in a program: two global symbols of its ELF symbol table, which the linker lets
// nobody define a second time.
#include "harness.h"
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Image {
    const unsigned char *bytes; // of the whole file
    size_t size;
} Image;

// `count` things of `size` bytes at an offset of the file, or NULL: they are not there.
static const void *at(const Image *f, uint64_t offset, uint64_t count, uint64_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || offset > f->size || bytes > f->size - offset)
        return NULL;
    return f->bytes + offset;
}

static bool is_named(const Image *f, const Elf64_Shdr *names, const Elf64_Sym *symbol,
                     const char *name)
{
    size_t size = strlen(name) + 1;
    const char *is = symbol->st_name < names->sh_size
                       ? at(f, names->sh_offset + symbol->st_name, 1, size)
                       : NULL;
    return is && memcmp(is, name, size) == 0;
}

static void find_symbols(const Image *f, const Elf64_Shdr *table, const Elf64_Shdr *names,
                         Harness *h)
{
    size_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbol = at(f, table->sh_offset, count, sizeof *symbol);
    for (size_t i = 0; symbol && i < count; i++, symbol++) {
        if (ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL) continue;
        if (is_named(f, names, symbol, "harness_begin")) h->begin = symbol->st_value;
        if (is_named(f, names, symbol, "harness_end")) h->end = symbol->st_value;
    }
}

static void read_symbols(const Image *f, Harness *h)
{
    const Elf64_Ehdr *head = at(f, 0, 1, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0
        || head->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    const Elf64_Shdr *section = at(f, head->e_shoff, head->e_shnum, sizeof *section);
    for (size_t i = 0; section && i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_SYMTAB && section[i].sh_link < head->e_shnum)
            find_symbols(f, &section[i], &section[section[i].sh_link], h);
}

Harness harness_of(const char *program)
{
    Harness h = { .program = realpath(program, NULL) };
    struct stat is;
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &is) == 0 && is.st_size > 0) {
        void *bytes = mmap(NULL, is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            read_symbols(&(Image){ bytes, is.st_size }, &h);
            munmap(bytes, is.st_size);
        }
    }
    if (fd >= 0) close(fd);
    return h;
}

bool harness_called(const Harness *h, const json_t *place)
{
    const json_t *caller = json_object_get(place, "caller");
    const char *object = json_string_value(json_object_get(caller, "object"));
    const char *address = json_string_value(json_object_get(caller, "address"));
    if (object && strcmp(object, "owner") == 0) return true; // the grader, over its own channel
    if (!h->program || !object || !address || strcmp(object, h->program) != 0) return false;
    uint64_t returns = strtoull(address, NULL, 0); // behind the call
    return returns > h->begin && returns <= h->end;
}
