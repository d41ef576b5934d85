// Reads a cubin, which is an ELF file. Its section .nv.info is a list of attributes, each
//
//   u8 format, u8 attribute, u16 bytes that follow (format 4; else a value: nothing follows)
//
// of which three are u32 symbol, u32 number: how many registers a thread has; the bytes of its
// frame; and those of the deepest stack that it can come to, calls and all, or all ones where calls
// go round in a circle.
//
// A kernel's code is its section .text.NAME. Since Volta each instruction has 128 bits. Bits 0 to 8
// are the opcode; 9 to 11 say where the operands come from; 12 to 15 are the predicate; 24, 32 and
// 64 begin the registers a, b and c; 73 to 75 are the width of what accesses memory. From bit 105
// on stands what ptxas found out for the scheduler: 4 bits of clocks until the next instruction,
// the scoreboards (3 bits each, 7: none) that it sets until its result is there and until its
// operands are read, those that it waits for (6 bits), and which operands are kept for the next
// instruction. So it shows when ptxas's output is looked at with cuobjdump; Huerta et al.,
// "Analyzing Modern NVIDIA GPU cores" (2025), describe what the hardware does with it.

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
    OPCODE_BITS = 9,
    OPCODE_ULDC_INDEXED = 0xbb,
    PREDICATE_ALWAYS = 7, // PT
    NO_SCOREBOARD = 7,
    NO_REGISTER = 255, // RZ
    OPERANDS = 3,      // a, b and c
    KEEPS = 122,       // the bit of a; b's and c's follow
    ALL_REGISTERS = 1, // where operands come from
    FROM_UNIFORM = 6   // and more
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

// What native.def says of an opcode.
typedef struct NativeRow {
    u8 pipe, clocks, kind, space, sources, wide;
} NativeRow;

static const NativeRow rows[1 << OPCODE_BITS] = {
#define NATIVE(opcode, name, pipe, clocks, kind, space, sources, wide)                             \
    [opcode] = { PIPE_##pipe, clocks, NATIVE_##kind, SPACE_##space, sources, wide },
#include "native.def"
};

static u32 bits(const u64 word[2], u32 at, u32 count)
{
    return (u32)(word[at / 64] >> at % 64) & ((1u << count) - 1);
}

static u8 bytes_of(const u64 word[2])
{
    u32 width = bits(word, 73, 3);
    return width == 6 ? 16 : width == 5 ? 8 : 4;
}

// Instructions that a branch skips, forwards or, below 0, backwards.
static s32 branch_distance(const u64 word[2])
{
    s64 quarters = ((s64)word[0] >> 34) * 256 + bits(word, 16, 8);
    return (s32)(quarters * 4 / NATIVE_BYTES);
}

static s8 scoreboard(u32 number) { return number == NO_SCOREBOARD ? -1 : (s8)number; }

// The register that is operand 0, 1 or 2 (a, b, c); NO_REGISTER: it is none.
static u32 source(const u64 word[2], u32 sources, u32 operand)
{
    u32 from = bits(word, 9, 3);
    bool b_elsewhere = from >= 4 && from <= 6, c_elsewhere = from == 2 || from == 3 || from == 7;
    if (!(sources >> operand & 1)) return NO_REGISTER;
    if (operand == 0) return bits(word, 24, 8);
    if (from == ALL_REGISTERS) return bits(word, operand == 1 || sources == 5 ? 32 : 64, 8);
    return (operand == 1 ? b_elsewhere : c_elsewhere) ? NO_REGISTER : bits(word, 64, 8);
}

static void word_at(const NativeCode *code, u32 number, u64 word[2])
{
    memcpy(word, code->insn + (size_t)number * NATIVE_BYTES, NATIVE_BYTES);
}

// Is that register kept from an instruction before? An operand is kept until the same operand of
// another instruction is.
static bool is_kept(const NativeCode *code, u32 number, u32 operand, u32 reg)
{
    enum { LONGEST = 8 };
    for (u32 n = number; n > 0 && n + LONGEST > number;) {
        u64 word[2];
        word_at(code, --n, word);
        if (bits(word, KEEPS + operand, 1))
            return source(word, rows[bits(word, 0, OPCODE_BITS)].sources, operand) == reg;
    }
    return false;
}

// Counts the registers that an instruction reads from their banks, and those that are kept.
static void count_reads(NativeInsn *i, const NativeCode *code, u32 number)
{
    const NativeRow *row = &rows[i->opcode];
    u64 word[2];
    u32 seen[OPERANDS];
    word_at(code, number, word);
    for (u32 operand = 0; operand < OPERANDS; operand++) {
        u32 reg = seen[operand] = source(word, row->sources, operand);
        bool again = reg == NO_REGISTER;
        for (u32 n = 0; n < operand; n++) again |= seen[n] == reg;
        if (again) continue;
        u8 *reads = is_kept(code, number, operand, reg) ? i->kept : i->reads;
        reads[reg % NATIVE_BANKS]++;
        if (row->wide >> operand & 1) reads[(reg + 1) % NATIVE_BANKS]++;
    }
}

NativeInsn native_insn(const NativeCode *code, u32 number)
{
    u64 word[2];
    word_at(code, number, word);
    u32 opcode = bits(word, 0, OPCODE_BITS), from = bits(word, 9, 3);
    const NativeRow *row = &rows[opcode];
    NativeInsn i = { .opcode = (u16)opcode,
                     .kind = row->kind,
                     .pipe = row->pipe,
                     .clocks = row->clocks,
                     .space = row->space,
                     .bytes = bytes_of(word),
                     .guarded = bits(word, 12, 3) != PREDICATE_ALWAYS,
                     .stall = (u8)bits(word, 105, 4),
                     .waits = (u8)bits(word, 116, 6),
                     .sets = scoreboard(bits(word, 110, 3)),
                     .frees = scoreboard(bits(word, 113, 3)),
                     .target = NATIVE_NOWHERE };
    // Constants at an address that is known come like S2R's, from the constant bank.
    if (i.space == SPACE_PARAM && bits(word, 24, 8) == NO_REGISTER) i.kind = NATIVE_PLAIN;
    // What reads registers of the uniform datapath waits for its loads without being told to.
    if (opcode == OPCODE_ULDC_INDEXED) i.sets = NATIVE_UNIFORM;
    else if (from >= FROM_UNIFORM) i.waits |= 1 << NATIVE_UNIFORM;
    if (i.kind == NATIVE_BRANCH || i.kind == NATIVE_CALL)
        i.target = (s32)number + 1 + branch_distance(word);
    if (!i.guarded) count_reads(&i, code, number);
    return i;
}

static void count_accesses(NativeCode *to)
{
    for (u32 n = 0; n < to->count; n++) {
        u64 word[2];
        word_at(to, n, word);
        const NativeRow *row = &rows[bits(word, 0, OPCODE_BITS)];
        NativeAccesses *a = row->space == SPACE_SHARED ? &to->shared
                          : row->space == SPACE_LOCAL  ? &to->local
                                                       : NULL;
        u32 bytes = bytes_of(word), width = bytes == 16 ? 2 : bytes == 8 ? 1 : 0;
        if (a && row->kind == NATIVE_LOAD) a->loads[width]++;
        if (a && row->kind == NATIVE_STORE) a->stores[width]++;
    }
}

bool native_code(const void *image, size_t bytes, const char *kernel, NativeCode *to)
{
    GElf_Shdr header;
    *to = (NativeCode){ 0 };
    elf_version(EV_CURRENT);
    Elf *elf = image ? elf_memory((char *)image, bytes) : NULL;
    Elf_Scn *section = elf ? find_code(elf, kernel) : NULL;
    bool found = section && gelf_getshdr(section, &header) && header.sh_offset <= bytes
              && header.sh_size <= bytes - header.sh_offset;
    if (found) {
        to->insn = (const u8 *)image + header.sh_offset;
        to->count = (u32)(header.sh_size / NATIVE_BYTES);
        count_accesses(to);
    }
    elf_end(elf);
    return found;
}
