// Reads a cubin, which is an ELF file. Its section .nv.info is a list of attributes, each
//
//   u8 format, u8 attribute, u16 bytes that follow (format 4; else a value: nothing follows)
//
// of which three are u32 symbol, u32 number: how many registers a thread has; the bytes of its
// frame; and those of the deepest stack that it can come to, calls and all, or all ones where calls
// go round in a circle.
//
// A kernel's code is its section .text.NAME. Since Volta each instruction has 128 bits: the opcode
// in the lowest 9 (it goes on with where the operands come from, which does not matter here), and
// in those that access memory the width in bits 73 to 75. So it shows when ptxas's output is looked
// at with cuobjdump.

#include "native.h"
#include <stdio.h>
#include <gelf.h>
#include <string.h>

enum {
    FORMAT_SIZED = 4,
    FRAME_BYTES = 0x11,
    STACK_BYTES = 0x12,
    REGISTER_COUNT = 0x2f,
    ATTRIBUTE_BYTES = 4
};
enum {
    INSTRUCTION_BYTES = 16,
    OPCODE_MASK = 0x1ff,
    OPCODE_LDS = 0x184,
    OPCODE_STS = 0x188,
    OPCODE_LDL = 0x183,
    OPCODE_STL = 0x187,
    WIDTH_SHIFT = 73 - 64
};

typedef struct {
    Elf *elf;
    Elf_Data *info, *symbols;
    size_t strings; // section of the symbols' names
} Cubin;

static void find_sections(Cubin *cubin)
{
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(cubin->elf, &names) != 0) return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(cubin->elf, section));) {
        if (!gelf_getshdr(section, &header)) continue;
        const char *name = elf_strptr(cubin->elf, names, header.sh_name);
        if (name && strcmp(name, ".nv.info") == 0) cubin->info = elf_rawdata(section, NULL);
        if (header.sh_type == SHT_SYMTAB) {
            cubin->symbols = elf_getdata(section, NULL);
            cubin->strings = header.sh_link;
        }
    }
}

static bool is_symbol(const Cubin *cubin, u32 index, const char *name)
{
    GElf_Sym symbol;
    if (!gelf_getsym(cubin->symbols, (int)index, &symbol)) return false;
    const char *text = elf_strptr(cubin->elf, cubin->strings, symbol.st_name);
    return text && strcmp(text, name) == 0;
}

// 0: there is no such attribute of the kernel.
static u32 find_number(const Cubin *cubin, u8 attribute, const char *kernel)
{
    const u8 *at = cubin->info->d_buf, *end = at + cubin->info->d_size;
    while (end - at >= ATTRIBUTE_BYTES) {
        u16 bytes;
        u32 value[2];
        memcpy(&bytes, at + 2, sizeof bytes);
        if (at[0] != FORMAT_SIZED) bytes = 0;
        if (bytes > end - at - ATTRIBUTE_BYTES) return 0;
        if (at[1] == attribute && bytes == sizeof value) {
            memcpy(value, at + ATTRIBUTE_BYTES, sizeof value);
            if (is_symbol(cubin, value[0], kernel)) return value[1];
        }
        at += ATTRIBUTE_BYTES + bytes;
    }
    return 0;
}

bool native_thread(const void *image, size_t bytes, const char *kernel, NativeThread *to)
{
    *to = (NativeThread){ 0 };
    elf_version(EV_CURRENT);
    Cubin cubin = { .elf = image ? elf_memory((char *)image, bytes) : NULL };
    if (cubin.elf) find_sections(&cubin);
    if (cubin.info && cubin.info->d_buf && cubin.symbols) {
        u32 stack = find_number(&cubin, STACK_BYTES, kernel);
        to->registers = find_number(&cubin, REGISTER_COUNT, kernel);
        to->local_bytes = stack == UINT32_MAX ? find_number(&cubin, FRAME_BYTES, kernel) : stack;
    }
    elf_end(cubin.elf);
    return to->registers != 0;
}

static Elf_Scn *find_code(Elf *elf, const char *kernel)
{
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0) return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strncmp(name, ".text.", 6) == 0 && strcmp(name + 6, kernel) == 0)
            return section;
    }
    return NULL;
}

// 1, 2, 4, 8 and 16 bytes: 0, 0, 0, 1, 2 here.
static u32 width_class(u64 high)
{
    u32 width = high >> WIDTH_SHIFT & 7;
    return width == 6 ? 2 : width == 5 ? 1 : 0;
}

static void count_accesses(const Elf_Data *code, NativeCode *to)
{
    for (size_t at = 0; at + INSTRUCTION_BYTES <= code->d_size; at += INSTRUCTION_BYTES) {
        u64 words[2];
        memcpy(words, (const u8 *)code->d_buf + at, sizeof words);
        u32 opcode = words[0] & OPCODE_MASK;
        u32 *counts = opcode == OPCODE_LDS ? to->shared.loads
                    : opcode == OPCODE_STS ? to->shared.stores
                    : opcode == OPCODE_LDL ? to->local.loads
                    : opcode == OPCODE_STL ? to->local.stores
                                           : NULL;
        if (counts) counts[width_class(words[1])]++;
    }
}

bool native_code(const void *image, size_t bytes, const char *kernel, NativeCode *to)
{
    *to = (NativeCode){ 0 };
    elf_version(EV_CURRENT);
    Elf *elf = image ? elf_memory((char *)image, bytes) : NULL;
    Elf_Scn *section = elf ? find_code(elf, kernel) : NULL;
    Elf_Data *code = section ? elf_rawdata(section, NULL) : NULL;
    if (code && code->d_buf) count_accesses(code, to);
    bool found = code && code->d_buf;
    elf_end(elf);
    return found;
}
