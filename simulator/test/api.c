// Runs each program of programs/ on the simulated device, and compares what the device reported,
// and how the program ended, with what the program's first lines say:
//
// clang-format off
//   // expect: KIND LINE, ..., exit N | signal N    the errors in order (line 0: none), then the end, exit 0 unless told
//   // says: words                                  an error has these words: its message and, after it, "inlined at LINE LINE"
//                                                   where its code was inlined
//   // migrations: HtoD gpu-fault 65536 1, ...      all moves of managed memory, in order: direction, why, bytes, faults
//   // links: kernel 0>1 4096, copy 0-1 64, ...     all that devices sent each other, in order: by what, from which device to
//                                                   which (0-1: through the host), bytes
//   // counts: KERNEL COUNTER NUMBER                a counter or metric of the kernel's last launch; ~COUNTER: an estimate;
//                                                   bound:memory 1: that bounds its predicted time
//   // prints: words|words                          the standard output has these, in this order
//   // stderr: words                                so has the standard error
//   // run: --limit 1000                            options for simulator/run
//   // varies: why                                  what it reports is not the same in every run
//   // build: -cudart static | none                 options for nvcc; none: without CUDA
//
// There may be several lines of says and of counts.
// clang-format on
//
// Programs are compiled here, when they are newer than what was compiled of them. DEVICE is the
// command that runs them, simulator/run unless told; TIME_LIMIT is how many seconds a run may take,
// 120 unless told; PROGRAMS='race_*' runs those alone:
//
//   make build/test/simulator-api && PROGRAMS=calls build/test/simulator-api --filter api/program

#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { REPORT_FD = 9, MOST_PROGRAMS = 512, LINE = 512 };

#define DEVICE (getenv("DEVICE") ?: "simulator/run")
#define TIME_LIMIT atoi(getenv("TIME_LIMIT") ?: "120")
static const char folder[] = "build/simulator/test";

typedef struct {
    char path[LINE], name[LINE]; // simulator/test/programs/leak.c, leak
} Program;

typedef struct {
    char counts[8192], says[4096], expect[LINE], migrations[LINE], links[LINE], prints[LINE],
        error[LINE], run[LINE], build[LINE], varies[LINE];
} Header;

// ---- The program's first lines ----

static bool take(const char *line, const char *key, char *to)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) return false;
    snprintf(to, LINE, "%s", line + length);
    to[strcspn(to, "\n")] = 0;
    return true;
}

static Header read_header(const Program *program)
{
    Header h = { 0 };
    char line[LINE];
    FILE *file = fopen(program->path, "r");
    cr_assert_not_null(file, "%s cannot be read", program->path);
    while (fgets(line, sizeof line, file) && strncmp(line, "//", 2) == 0) {
        if (take(line, "// expect: ", h.expect)) continue;
        if (strncmp(line, "// says: ", 9) == 0) {
            strncat(h.says, line + 9, sizeof h.says - strlen(h.says) - 1);
            continue;
        }
        if (take(line, "// links: ", h.links) || take(line, "// migrations: ", h.migrations))
            continue;
        if (strncmp(line, "// counts: ", 11) == 0) {
            strncat(h.counts, line + 11, sizeof h.counts - strlen(h.counts) - 1);
            continue;
        }
        if (take(line, "// prints: ", h.prints) || take(line, "// stderr: ", h.error)) continue;
        if (!take(line, "// run: ", h.run) && !take(line, "// varies: ", h.varies))
            take(line, "// build: ", h.build);
    }
    fclose(file);
    cr_assert(h.expect[0], "%s: its first line must be // expect: ...", program->path);
    if (!strstr(h.expect, "exit ") && !strstr(h.expect, "signal "))
        strncat(h.expect, ", exit 0", sizeof h.expect - strlen(h.expect) - 1);
    return h;
}

// ---- Compiling and running ----

static char *output(const Program *program, const char *suffix)
{
    static char path[8][2 * LINE];
    static int next;
    char *to = path[next++ % 8];
    snprintf(to, sizeof *path, "%s/%s%s", folder, program->name, suffix);
    return to;
}

static bool is_newer(const char *source, const char *target)
{
    struct stat a, b;
    return stat(target, &b) != 0 || (stat(source, &a) == 0 && a.st_mtime > b.st_mtime);
}

// Only programs in C speak past the library.
static bool is_wire_newer(const char *target)
{
    return is_newer("simulator/wire/wire.h", target) || is_newer("simulator/wire/row.h", target)
        || is_newer("simulator/wire/wire.def", target);
}

static void compile(const Program *program, const Header *h)
{
    char *target = output(program, ""), *command = NULL, made[3 * LINE];
    bool cuda = strstr(program->path, ".cu") != NULL, plain = strcmp(h->build, "none") == 0;
    bool wire = !cuda && is_wire_newer(target);
    if (!wire && !is_newer(program->path, target)
        && !is_newer("simulator/test/programs/check.h", target))
        return;
    // Two tests may compile one program at the same time.
    snprintf(made, sizeof made, "%s.%d", target, (int)getpid());
    if (cuda)
        asprintf(&command, "nvcc -std=c++17 %s -lineinfo %s %s %s -o %s %s",
                 strstr(h->build, "-O") ? "" : "-O2 -Xcompiler -g1",
                 strstr(h->build, "-cudart") ? "" : "-cudart shared",
                 strstr(h->build, "-gencode") ? "" : "-gencode arch=compute_90,code=compute_90",
                 h->build, made, program->path);
    else
        asprintf(&command,
                 "gcc -std=gnu17 -O1 -g -Wall -Wextra -isystem $CUDA_HOME/include -o %s %s %s",
                 made, program->path, plain ? "" : "-L$CUDA_HOME/lib64 -lcudart -lpthread");
    cr_assert(command && system(command) == 0, "%s does not compile", program->path);
    cr_assert_eq(rename(made, target), 0);
    free(command);
}

static void redirect(const char *path, int fd)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file == fd) return; // and stays open
    if (file < 0 || dup2(file, fd) < 0) _exit(125);
    close(file);
}

// In this process, with those options more; what it writes is called after its `name`.
static void become(const Program *program, const Header *h, const char *more, const Program *name)
{
    char *words[32], options[2 * LINE];
    int count = 0;
    words[count++] = (char *)(DEVICE);
    words[count++] = "--report";
    words[count++] = "9";
    snprintf(options, sizeof options, "%s %s", h->run, more);
    for (char *word = strtok(options, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    words[count++] = "--";
    words[count++] = output(program, "");
    words[count] = NULL;
    close_range(3, ~0u, 0); // the test runner's files are none of the program's business
    redirect(output(name, ".out"), 1);
    redirect(output(name, ".err"), 2);
    redirect(output(name, ".events"), REPORT_FD);
    alarm(TIME_LIMIT); // outlives the exec; the device's end is the program's
    execv(words[0], words);
    _exit(126);
}

static int run_so(const Program *program, const Header *h, const char *more, const Program *name)
{
    int status;
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) become(program, h, more, name);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status), "%s: the device was killed by signal %d (14: it took over %d s)",
              program->name, WTERMSIG(status), TIME_LIMIT);
    return WEXITSTATUS(status);
}

// ---- What came of it ----

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is missing", path);
    if (getdelim(&text, &size, 0, file) < 0) free(text), text = strdup("");
    fclose(file);
    return text;
}

typedef struct {
    char found[4096];      // in the form of // expect:
    char migrations[4096]; // in the form of // migrations:
    char links[4096];      // in the form of // links:
    json_t *counters;      // of each kernel, by name
    char messages[32768];  // of the errors, what is wrong, why, and what to do next, a line each
    bool ended;
    int status; // as the exit event has it: of the device process
} Outcome;

// Behind a message, the lines at which its code was inlined: "..., inlined at 14 19".
static void add_callers(Outcome *o, const json_t *places)
{
    char *to = o->messages + strlen(o->messages), *end = o->messages + sizeof o->messages;
    size_t index;
    json_t *place;
    to += snprintf(to, end - to, "%s", json_array_size(places) ? ", inlined at" : "");
    json_array_foreach((json_t *)places, index, place) to +=
        snprintf(to, end - to, " %d", (int)json_integer_value(json_object_get(place, "line")));
    snprintf(to, end - to, "\n");
}

static void add_links(Outcome *o, json_t *event)
{
    json_t *links = json_object_get(event, "links"), *link;
    char *between = links ? ">" : "-";
    size_t i;
    json_array_foreach(links ? links : json_object_get(event, "by_host"), i, link)
    {
        int from, to;
        json_int_t bytes;
        size_t used = strlen(o->links);
        cr_assert_eq(json_unpack(link, "[iiI]", &from, &to, &bytes), 0);
        snprintf(o->links + used, sizeof o->links - used, "%s%s %d%s%d %lld", used ? ", " : "",
                 json_string_value(json_object_get(event, "kind")), from, between, to,
                 (long long)bytes);
    }
}

// Those that are estimates are there with a ~ before them as well, and what bounds the time is.
static void mark(json_t *counters, const char *with, const json_t *name)
{
    if (!name) return;
    const json_t *value = json_object_get(counters, json_string_value(name));
    char marked[LINE];
    snprintf(marked, sizeof marked, "%s%s", with, json_string_value(name));
    json_object_set_new(counters, marked, json_real(value ? json_number_value(value) : 1));
}

static void add_event(Outcome *o, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    size_t used = strlen(o->found), room = sizeof o->found - used;
    cr_assert_not(o->ended, "an event follows the exit event");
    if (strcmp(name, "error") == 0) {
        const char *message = json_string_value(json_object_get(event, "message"));
        const char *why = json_string_value(json_object_get(event, "why")),
                   *next = json_string_value(json_object_get(event, "next"));
        snprintf(o->found + used, room, "%s %d, ",
                 json_string_value(json_object_get(event, "kind")),
                 (int)json_integer_value(json_object_get(event, "line")));
        used = strlen(o->messages);
        snprintf(o->messages + used, sizeof o->messages - used, "%s", message ? message : "");
        add_callers(o, json_object_get(event, "inlined_at"));
        used = strlen(o->messages);
        snprintf(o->messages + used, sizeof o->messages - used, "%s\n%s\n", why ? why : "",
                 next ? next : "");
    } else if (strcmp(name, "migration") == 0) {
        used = strlen(o->migrations);
        snprintf(o->migrations + used, sizeof o->migrations - used, "%s%s %s %d %d",
                 used ? ", " : "", json_string_value(json_object_get(event, "direction")),
                 json_string_value(json_object_get(event, "cause")),
                 (int)json_integer_value(json_object_get(event, "bytes")),
                 (int)json_integer_value(json_object_get(event, "faults")));
    } else if (strcmp(name, "work") == 0) {
        add_links(o, event);
    } else if (strcmp(name, "kernel") == 0) {
        json_t *counters = json_object_get(event, "counters");
        json_object_update(counters, json_object_get(event, "metrics"));
        json_object_update(counters, json_object_get(event, "aside"));
        size_t i;
        json_t *estimate;
        json_array_foreach(json_object_get(event, "estimates"), i, estimate)
            mark(counters, "~", estimate);
        mark(counters, "bound:", json_object_get(event, "bound"));
        json_object_set(o->counters, json_string_value(json_object_get(event, "name")), counters);
    } else if (strcmp(name, "exit") == 0) {
        json_t *signal = json_object_get(event, "signal");
        o->status = (int)json_integer_value(signal ? signal : json_object_get(event, "status"));
        snprintf(o->found + used, room, "%s %d", signal ? "signal" : "exit", o->status);
        o->status += signal ? 128 : used && !o->status; // 1: errors were found
        o->ended = true;
    }
}

static Outcome read_events(const Program *program)
{
    Outcome o = { .counters = json_object() };
    char *text = read_text(output(program, ".events")), *rest = text, *line;
    while ((line = strsep(&rest, "\n")) && *line) {
        json_t *event = json_loads(line, 0, NULL);
        cr_assert_not_null(event, "%s: no JSON: %s", program->name, line);
        add_event(&o, event);
        json_decref(event);
    }
    free(text);
    cr_assert(o.ended, "%s: there is no exit event", program->name);
    return o;
}

static void has_words(const Program *program, const char *suffix, const char *words)
{
    char *text = read_text(output(program, suffix)), *at = text, copy[LINE], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", words);
    while ((word = strsep(&rest, "|"))) {
        char *found = strstr(at, word);
        cr_expect_not_null(found, "%s%s lacks '%s' (in that order); it has:\n%s", program->name,
                           suffix, word, text);
        at = found ? found + strlen(word) : at;
    }
    free(text);
}

// Each line of `counts`: a kernel, one of its counters, and what it must be.
static void has_counts(const Program *program, char *counts, const json_t *counters)
{
    for (char *rest = counts, *line; (line = strsep(&rest, "\n")) && *line;) {
        char kernel[LINE], counter[LINE];
        double due = -1;
        cr_assert_eq(sscanf(line, "%511s %511s %lf", kernel, counter, &due), 3,
                     "%s: cannot read // counts: %s", program->name, line);
        const json_t *value = json_object_get(json_object_get(counters, kernel), counter);
        double is = value ? json_number_value(value) : -1;
        cr_expect(fabs(is - due) < 0.005, "%s: %s of %s is %.12g, not %.12g", program->name,
                  counter, kernel, is, due);
    }
}

static void judge(const Program *program)
{
    Header h = read_header(program);
    compile(program, &h);
    int status = run_so(program, &h, "", program);
    Outcome o = read_events(program);
    cr_expect_str_eq(o.found, h.expect, "%s: expected '%s', found '%s'\n%s", program->path,
                     h.expect, o.found, read_text(output(program, ".err")));
    cr_expect_eq(status, o.status, "%s: the device ended with %d, its program with %d",
                 program->name, status, o.status);
    for (char *rest = h.says, *words; (words = strsep(&rest, "\n")) && *words;)
        cr_expect(strstr(o.messages, words), "%s: no message says '%s'; they are:\n%s",
                  program->path, words, o.messages);
    cr_expect(!h.links[0] || strcmp(o.links, h.links) == 0,
              "%s: expected the links '%s', found '%s'", program->name, h.links, o.links);
    cr_expect(!h.migrations[0] || strcmp(o.migrations, h.migrations) == 0,
              "%s: expected the migrations '%s', found '%s'", program->name, h.migrations,
              o.migrations);
    has_counts(program, h.counts, o.counters);
    json_decref(o.counters);
    has_words(program, ".out", h.prints);
    has_words(program, ".err", h.error);
}

// ---- The tests ----

static Program all[MOST_PROGRAMS];
static size_t program_count;

static void find_programs(void)
{
    glob_t found;
    char pattern[LINE];
    const char *some = getenv("PROGRAMS");
    snprintf(pattern, sizeof pattern, "simulator/test/programs/%s.c*", some ? some : "*");
    if (glob(pattern, 0, NULL, &found) != 0) return;
    if (found.gl_pathc > MOST_PROGRAMS) { // none may be left out in silence
        fprintf(stderr, "%zu programs: raise MOST_PROGRAMS\n", found.gl_pathc);
        exit(1);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        Program *program = &all[program_count++];
        snprintf(program->path, sizeof program->path, "%s", found.gl_pathv[i]);
        snprintf(program->name, sizeof program->name, "%s", strrchr(program->path, '/') + 1);
        *strrchr(program->name, '.') = 0;
    }
    globfree(&found);
    if (mkdir("build", 0777) < 0 && access("build", F_OK) < 0) return;
    mkdir("build/simulator", 0777);
    mkdir(folder, 0777);
}

ParameterizedTestParameters(api, program)
{
    if (!program_count) find_programs();
    return cr_make_param_array(Program, all, program_count);
}

ParameterizedTest(Program *program, api, program) { judge(program); }

Test(api, finds_its_programs)
{
    if (!program_count) find_programs();
    cr_assert(program_count >= 30, "only %zu programs found: run it in the repository's root",
              program_count);
}

static const Program *program_named(const char *name)
{
    if (!program_count) find_programs();
    for (size_t i = 0; i < program_count; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    cr_assert_fail("there is no program %s", name);
    return NULL;
}

// Compiles it and runs it without --report, as a person does. Returns what the device says.
static char *said_of(const Program *program, const char *options, const char *suffix)
{
    Header h = read_header(program);
    char *command = NULL;
    compile(program, &h);
    asprintf(&command, "%s %s %s 2>%s", DEVICE, options, output(program, ""),
             output(program, suffix));
    cr_expect_leq(WEXITSTATUS(system(command)), 1); // 1: errors were found
    free(command);
    return read_text(output(program, suffix));
}

// Without --report a person reads it: on a line of 80 columns, with the source and a caret.
Test(api, text_fits_a_terminal)
{
    static const char *const names[] = { "copy_past_end", "kernel_bounds", "copy_direction" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *rest = said_of(program_named(names[i]), "", ".text"), *line;
        cr_expect_not_null(strstr(rest, "| "), "%s: no source line:\n%s", names[i], rest);
        cr_expect_not_null(strstr(rest, "^\n"), "%s: no caret:\n%s", names[i], rest);
        cr_expect_not_null(strstr(rest, "  next: "), "%s: no advice:\n%s", names[i], rest);
        while ((line = strsep(&rest, "\n")))
            cr_expect_leq(strlen(line), 80, "%s: a long line: %s", names[i], line);
    }
}

// Where no line is known, the function is named that is the program's own.
Test(api, names_functions_without_lines)
{
    const Program *program = program_named("leak_behind_template");
    free(said_of(program, "", ".text"));
    has_words(program, ".text",
              "leak, in main (|leak, in make() (|and 1 more of this kind in this function");
}

// Clocks are none here: that is said where a kernel measures by them, not where it only waits.
Test(api, says_what_clocks_count)
{
    const Program *program = program_named("clocks");
    Header h = read_header(program);
    char *text;
    compile(program, &h);
    cr_expect_eq(run_so(program, &h, "", program), 0);
    text = read_text(output(program, ".err"));
    cr_expect_not_null(strstr(text, "timed (clocks.cu:13) looks at a clock"), "%s", text);
    cr_expect_null(strstr(text, "waits_twice"), "%s", text);
}

// Whatever is reported with one thread, counters and times included, by each program, with every
// launch in several threads that can be.
ParameterizedTestParameters(api, threads)
{
    if (!program_count) find_programs();
    return cr_make_param_array(Program, all, program_count);
}

static char *told(const Program *program, const Header *h, const char *options, const char *suffix,
                  int *status)
{
    Program name = *program;
    snprintf(name.name, sizeof name.name, "%.400s.%s", program->name, suffix);
    *status = run_so(program, h, options, &name);
    return read_text(output(&name, ".events"));
}

ParameterizedTest(Program *program, api, threads)
{
    Header h = read_header(program);
    int status[2];
    if (h.varies[0]) return;
    compile(program, &h);
    char *one = told(program, &h, "--threads 1", "one", &status[0]);
    char *four = told(program, &h, "--threads 4 --spread 1", "four", &status[1]);
    cr_expect_str_eq(one, four, "%s: one thread tells\n%sand four tell\n%s", program->path, one,
                     four);
    cr_expect_eq(status[0], status[1], "%s ends with %d with one thread, and with %d with four",
                 program->path, status[0], status[1]);
    free(one);
    free(four);
}

// And with several, where the launches are large.
Test(api, the_number_of_threads_changes_nothing)
{
    const Program *program = program_named("waves");
    char *one = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        char options[64], *text;
        snprintf(options, sizeof options, "--json --threads %d", threads);
        text = said_of(program, options, ".json");
        cr_expect_not_null(strstr(text, "dram__bytes_read.sum"), "no counters:\n%s", text);
        if (!one) one = strdup(text);
        cr_expect_str_eq(one, text, "%d threads tell something else", threads);
    }
    free(one);
}

// ---- The timeline ----

// What a row of the timeline has, one after the other: "Memcpy HtoD (pinned), event"; pid 1 is the
// host, 2 the device.
static void row_words(json_t *events, int pid, int tid, char *words, size_t room)
{
    size_t i, used = 0;
    double last = 0;
    json_t *event;
    *words = 0;
    json_array_foreach(events, i, event)
    {
        const char *name, *phase;
        double at, lasts = 0;
        int p, t;
        if (json_unpack(event, "{ss ss sF si si s?F}", "name", &name, "ph", &phase, "ts", &at,
                        "pid", &p, "tid", &t, "dur", &lasts)
            || p != pid || t != tid || strchr("sf", *phase))
            continue;
        cr_expect(at >= last - 1e-5 && lasts >= 0, "%s begins at %g us, before %g", name, at, last);
        last = at + lasts;
        used += (size_t)snprintf(words + used, room - used, "%s%s", used ? ", " : "", name);
    }
}

// When the n-th event of that name on a row of the device begins, and ends.
static double edge(json_t *events, int tid, const char *which, bool end)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        const char *name, *phase;
        double at, lasts = 0;
        int p, t;
        if (!json_unpack(event, "{ss ss sF si si s?F}", "name", &name, "ph", &phase, "ts", &at,
                         "pid", &p, "tid", &t, "dur", &lasts)
            && p == 2 && t == tid && strcmp(name, which) == 0)
            return at + (end ? lasts : 0);
    }
    cr_assert_fail("there is no %s in row %d", which, tid);
    return 0;
}

Test(api, timeline_has_what_ran_and_when)
{
    static const char path[] =
        "build/simulator/test/timeline.looked-at.json"; // the other tests of it may run beside this
                                                        // one
    const Program *program = program_named("timeline");
    Header h = read_header(program);
    char words[2048];
    int status;
    unlink(path);
    compile(program, &h);
    free(told(program, &h, "--timeline build/simulator/test/timeline.looked-at.json", "looked-at",
              &status));
    cr_expect_eq(status, 0);
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, NULL),
           *events = json_object_get(file, "traceEvents");
    cr_assert(json_is_array(events), "%s is no trace", path);

    row_words(events, 2, 1, words, sizeof words);
    cr_expect_str_eq(words, "Memset, Memcpy DtoH (pinned)");
    row_words(events, 2, 2, words, sizeof words);
    cr_expect_str_eq(words, "Memcpy HtoD (pinned), event, begin of a graph, twice, twice");
    row_words(events, 2, 3, words, sizeof words);
    cr_expect_str_eq(words, "Memcpy DtoH (pinned), waits for an event, twice, host function");
    row_words(events, 1, 1, words, sizeof words);
    cr_expect_not_null(
        strstr(
            words,
            "cudaMemset, cudaMemcpyAsync, cudaMemcpyAsync, cudaEventRecord, cudaStreamWaitEvent, "
            "cudaLaunchKernel, cudaLaunchHostFunc, cudaStreamSynchronize, cudaGraphLaunch, "
            "cudaStreamSynchronize, cudaMemcpy"),
        "the host's calls are %s", words);

    double out = edge(events, 3, "Memcpy DtoH (pinned)", false),
           in = edge(events, 2, "Memcpy HtoD (pinned)", true);
    cr_expect(out < in, "the copies in both directions overlap");
    cr_expect(edge(events, 3, "twice", false) >= in - 1e-5,
              "the kernel begins behind the copy whose event its stream waits for");
    json_decref(file);
}

// Nothing is left of one that cannot be written, and the program's status is what it was.
