// Return addresses to source lines, with libdw. The wrappers of cuda_runtime.h are inlined into
// the student's function, so the innermost line of an address is often in the toolkit: we climb
// the inlined scopes out of it. libdw bears one thread at a time, and reads what it needs when it
// is asked: so calls wait for one another (blocks that run beside each other ask, each for what it
// would report).

#define _GNU_SOURCE
#include "origin.h"
#include "base/names.h"
#include "wire/wire.h"
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    Dwfl *dwfl;
    int pid;
    int root; // the program's root folder, perhaps a sandbox's; or -1
} origin = { .root = -1 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The answers that were given last: a kernel's mistakes come by the thousand, and ask for the same
// few calls.
enum { ANSWERS = 16 };
static struct {
    u64 callers[ORIGIN_CALLERS];
    Place place;
} answers[ANSWERS];
static size_t answered;

// Opens the file that the program has mapped, in the program's own view of the file system.
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
    (void)module;
    (void)data;
    (void)base;
    (void)elf;
    if (name[0] != '/') return -1;
    int fd = origin.root < 0 ? -1 : openat(origin.root, name + 1, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) *file = strdup(name);
    return fd;
}

// Debug information lies in the file itself here; nothing is fetched from anywhere.
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **debug_name)
{
    (void)module;
    (void)data;
    (void)name;
    (void)base;
    (void)file;
    (void)link;
    (void)crc;
    (void)debug_name;
    return -1;
}

static void read_map(void)
{
    if (!origin.dwfl) return;
    dwfl_report_begin_add(origin.dwfl);
    dwfl_linux_proc_report(origin.dwfl, origin.pid);
    dwfl_report_end(origin.dwfl, NULL, NULL);
}

void origin_open(int pid)
{
    static const Dwfl_Callbacks callbacks = { .find_elf = find_elf,
                                              .find_debuginfo = find_debuginfo };
    origin_close();
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", pid);
    origin.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    origin.pid = pid;
    origin.dwfl = dwfl_begin(&callbacks);
    read_map();
}

void origin_close(void)
{
    if (origin.dwfl) dwfl_end(origin.dwfl);
    if (origin.root >= 0) close(origin.root);
    origin.dwfl = NULL;
    origin.root = -1;
    memset(answers, 0, sizeof answers);
}

// Does the file lie under an include folder that holds the toolkit's headers or the compiler's?
static bool is_library(const char *file)
{
    static const char *const marks[] = { "cuda_runtime_api.h", "cstdlib", "stdlib.h" };
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", file) >= (int)sizeof path || path[0] != '/') return false;
    for (char *slash; (slash = strrchr(path, '/')) && slash != path;) {
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            snprintf(slash, sizeof path - (size_t)(slash - path), "/%s", marks[i]);
            if (access(path, F_OK) == 0) return true;
        }
        *slash = 0;
    }
    return false;
}

static const char *file_of(Dwarf_Die *unit, Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &index) != 0
        || dwarf_getsrcfiles(unit, &files, &count) != 0)
        return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

static u32 line_of(Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line;
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) != 0) return 0;
    return (u32)line;
}

static bool is_function(Dwarf_Die *scope)
{
    int tag = dwarf_tag(scope);
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

// nvcc puts two functions between a <<<>>> and the runtime: a stub, and one with the kernel's own
// name, whose line is that of the kernel. `kernel` is what follows "__device_stub_" in the stub's
// symbol: the kernel's mangled name and more; NULL until a stub has been seen.
static bool is_wrapper(const char *symbol, const char *kernel)
{
    return symbol && kernel && strncmp(symbol, kernel, strlen(symbol)) == 0;
}

// Where the kernel is a template, there is another stub, inlined, and neither it nor what it is
// inlined into has a symbol.
static bool is_inlined_stub(Dwarf_Die *scope)
{
    const char *name = dwarf_diename(scope);
    return name && strncmp(name, "__wrapper__device_stub_", 23) == 0;
}

static const char *linkage_name(Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute));
}

// The scopes that hold the address, innermost first. (dwarf_getscopes() alone goes on, after an
// inlined function, with what surrounds its definition; we want what surrounds the place where it
// was inlined.)
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die *found = NULL;
    int count = dwarf_getscopes(unit, address, &found);
    *scopes = NULL;
    if (count > 0) count = dwarf_getscopes_die(&found[0], scopes);
    free(found);
    return count;
}

// Climbs from the innermost inlined function to the first whose line is the program's own.
static bool climb(Dwarf_Die *unit, Dwarf_Addr address, const char *kernel, Place *place)
{
    Dwarf_Die *scopes;
    int count = scopes_at(unit, address, &scopes);
    bool own = false, stub = false;
    for (int i = 0; i < count && !own; i++) {
        if (!is_function(&scopes[i])) continue;
        bool in_stub = stub;
        stub = is_inlined_stub(&scopes[i]);
        own = !stub && !in_stub && !is_library(place->file)
           && !is_wrapper(linkage_name(&scopes[i]), kernel);
        if (own) place->function = dwarf_diename(&scopes[i]);
        else if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) break;
        else *place = (Place){ .file = file_of(unit, &scopes[i]), .line = line_of(&scopes[i]) };
        if (!place->file) break;
    }
    free(scopes);
    return own;
}

static Dwfl_Module *module_at(Dwarf_Addr address)
{
    Dwfl_Module *module = dwfl_addrmodule(origin.dwfl, address);
    if (module) return module;
    read_map(); // a library loaded since
    return dwfl_addrmodule(origin.dwfl, address);
}

static bool is_stub(const char *symbol, const char **kernel)
{
    static const char prefix[] = "__device_stub_";
    const char *found = symbol ? strstr(symbol, prefix) : NULL;
    if (!found) return is_wrapper(symbol, *kernel);
    found += strlen(prefix);
    if (!*kernel && found[0] == '_') // not a template's __wrapper__device_stub_name
        *kernel = found;
    return true;
}

// nvcc writes the host code of a .cu file anew, with its lines but not its columns.
static bool has_columns(const char *file)
{
    const char *end = strrchr(file, '.');
    return !end || strncmp(end, ".cu", 3) != 0;
}

static bool line_at(Dwfl_Module *module, Dwarf_Addr address, const char *kernel, Place *place)
{
    Dwarf_Addr bias;
    Dwfl_Line *line = dwfl_module_getsrc(module, address);
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
    int number, column = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, &column, NULL, NULL) : NULL;
    if (!file || !unit) return false;
    *place =
        (Place){ .file = file, .line = (u32)number, .column = has_columns(file) ? (u32)column : 0 };
    return climb(unit, address - bias, kernel, place);
}

// A function of C++ whose name begins as the runtime's do: a template of cuda_runtime.h, not
// inlined, such as cudaMallocManaged<float>, which every call of the program's with that type
// shares.
static bool is_template_of_runtime(const char *symbol)
{
    if (!symbol || strncmp(symbol, "_Z", 2) != 0) return false;
    symbol += 2 + strspn(symbol + 2, "L0123456789");
    return strncmp(symbol, "cuda", 4) == 0 && symbol[4] >= 'A' && symbol[4] <= 'Z';
}

// Who made the call: that code's object, and the address there by the object's own count.
static void caller_of(u64 address, Place *place)
{
    Dwarf_Addr bias;
    Dwfl_Module *module = address && origin.dwfl ? module_at(address) : NULL;
    if (!module || !dwfl_module_getelf(module, &bias)) return;
    place->object = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    place->address = address - bias;
}

static bool line_of_callers(const u64 *callers, size_t count, Place *place)
{
    const char *kernel = NULL, *function = NULL;
    for (size_t i = 0; i < count && callers[i] && origin.dwfl; i++) {
        Dwarf_Addr address = callers[i] - 1; // inside the call, not behind it
        Dwfl_Module *module = module_at(address);
        const char *symbol = module ? dwfl_module_addrname(module, address) : NULL;
        if (!module || is_stub(symbol, &kernel)) continue;
        if (line_at(module, address, kernel, place) && !strstr(place->file, ".cudafe1.stub.c"))
            return true;
        if (!function || (symbol && is_template_of_runtime(function))) function = symbol;
    }
    *place = (Place){ .function = function };
    return false;
}

static bool place_of(const u64 *callers, size_t count, Place *place)
{
    bool known = line_of_callers(callers, count, place);
    caller_of(count ? callers[0] : 0, place);
    return known;
}

void origin_caller(const u64 *callers, Place *place)
{
    *place = (Place){ 0 };
    pthread_mutex_lock(&mutex);
    caller_of(callers[0], place);
    pthread_mutex_unlock(&mutex);
}

// What is not known may be yet, once the program has loaded a library, and is looked for again.
static bool answer(const u64 *callers, size_t count, Place *place)
{
    u64 wanted[ORIGIN_CALLERS] = { 0 };
    for (size_t i = 0; i < count && i < ORIGIN_CALLERS && callers[i]; i++) wanted[i] = callers[i];
    for (size_t a = 0; a < ANSWERS; a++)
        if (wanted[0] && memcmp(answers[a].callers, wanted, sizeof wanted) == 0) {
            *place = answers[a].place;
            return true;
        }
    if (!place_of(wanted, ORIGIN_CALLERS, place)) return false;
    memcpy(answers[answered % ANSWERS].callers, wanted, sizeof wanted);
    answers[answered++ % ANSWERS].place = *place;
    return true;
}

bool origin_place(const u64 *callers, size_t count, Place *place)
{
    if (count && callers[0] == WIRE_OWNER) {
        *place = (Place){ .object = ORIGIN_OWNER };
        return false;
    }
    pthread_mutex_lock(&mutex);
    bool known = answer(callers, count, place);
    pthread_mutex_unlock(&mutex);
    return known;
}

// ---- The program's own memory ----

static enum origin_memory of_symbol(const char *symbol, int type, char **name)
{
    static const char table[] = "vtable for ";
    if (type == STT_FUNC) *name = names_demangle(symbol);
    else if (strncmp(symbol, "_ZTV", 4) == 0) {
        char *words = names_demangle(symbol);
        bool known = words && strncmp(words, table, strlen(table)) == 0;
        *name = known ? strdup(words + strlen(table)) : NULL;
        free(words);
        return ORIGIN_VTABLE;
    } else *name = names_variable(symbol);
    return type == STT_FUNC ? ORIGIN_FUNCTION : ORIGIN_VARIABLE;
}

static enum origin_memory of_module(u64 address, char **name)
{
    GElf_Sym symbol;
    GElf_Off offset;
    Dwfl_Module *module = module_at(address);
    const char *found =
        module ? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL) : NULL;
    int type = found ? GELF_ST_TYPE(symbol.st_info) : STT_NOTYPE;
    if (!found || offset >= symbol.st_size || (type != STT_FUNC && type != STT_OBJECT))
        return ORIGIN_NOTHING;
    return of_symbol(found, type, name);
}

// By the kernel's list of what the process has mapped.
static enum origin_memory of_mapping(u64 address)
{
    char path[64], line[PATH_MAX + 100];
    enum origin_memory found = ORIGIN_NOTHING;
    snprintf(path, sizeof path, "/proc/%d/maps", origin.pid);
    FILE *maps = fopen(path, "re");
    unsigned long long from, to;
    while (maps && !found && fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx", &from, &to) == 2 && address >= from && address < to)
            found = strstr(line, " [heap]")  ? ORIGIN_HEAP
                  : strstr(line, " [stack]") ? ORIGIN_STACK
                                             : ORIGIN_MEMORY;
    if (maps) fclose(maps);
    return found;
}

enum origin_memory origin_memory(u64 address, char **name)
{
    *name = NULL;
    if (!origin.dwfl) return ORIGIN_NOTHING;
    pthread_mutex_lock(&mutex);
    enum origin_memory found = of_module(address, name);
    pthread_mutex_unlock(&mutex);
    return found ? found : of_mapping(address);
}
