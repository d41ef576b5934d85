// Grades the exercise again whenever it is saved, and listens to keys in between. It waits with
// inotifywait where the file system tells of changes, and looks twice a second where it does not
// (network file systems, Windows folders under WSL). It never goes on to another lesson by itself,
// and never clears the screen.
#define _GNU_SOURCE
#include "study.h"
#include "process.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 500, SETTLE_MS = 80 };

typedef struct Watch {
    const Lesson *lesson;
    int told;         // the pipe from inotifywait; -1: look for yourself
    bool keys;        // standard input still has some
    bool terminal;    // and it is one
    struct stat seen; // the exercise as it was last graded
} Watch;

// ---- The terminal: a key at a time, and as it was again however we end

static struct termios before;
static bool changed;

static void restore_terminal(void)
{
    if (changed) tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void end_by_signal(int number)
{
    restore_terminal();
    signal(number, SIG_DFL);
    raise(number);
}

// Keys come at once and are not shown; Ctrl-C still interrupts.
static void take_keys(void)
{
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &before) != 0) return;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | TOSTOP); // graders write from the background
    changed = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    atexit(restore_terminal);
    signal(SIGINT, end_by_signal);
    signal(SIGTERM, end_by_signal);
    signal(SIGHUP, end_by_signal);
}

// ---- Changes

// File systems whose changes may be made by another machine, of which inotify then knows nothing.
static bool tells_of_changes(const char *path)
{
    static const unsigned silent[] = {
        0x6969 /* NFS */,          0xFF534D42 /* CIFS */,       0xFE534D42 /* SMB2 */,
        0x01021997 /* 9P: WSL2 */, 0x65735546 /* FUSE */,       0x5346414F /* AFS */,
        0x53464846 /* WSL1 */,     0x786F4256 /* VirtualBox */,
    };
    struct statfs fs;
    if (statfs(path, &fs) != 0) return false;
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if ((unsigned)fs.f_type == silent[i]) return false;
    return true;
}

// The folder is watched, not the file: editors often write a new file and rename it. -1: it cannot
// be, so look.
static int start_telling(void)
{
    const char *said = getenv("WATCH");
    int ends[2];
    bool look = (said && strcmp(said, "poll") == 0) || !tells_of_changes("exercises");
    if (look || pipe2(ends, O_CLOEXEC) != 0) return -1;
    const char *argv[] = { "inotifywait", "-q", "-m",        "-e", "close_write,moved_to,attrib",
                           "--format",    "%f", "exercises", NULL };
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    Spawn spawn = { .argv = argv, .from = { ends[1], null }, .to = { 1, 2 }, .descriptors = 2 };
    pid_t pid = process_start(&spawn);
    close(null);
    close(ends[1]);
    if (pid > 0) return ends[0];
    close(ends[0]);
    return -1;
}

// The file differs from what was graded last; a file that is not there for a moment does not.
static bool is_saved(const Watch *w)
{
    const struct stat *then = &w->seen;
    struct stat now;
    if (stat(w->lesson->exercise, &now) != 0) return false;
    return now.st_mtim.tv_sec != then->st_mtim.tv_sec
        || now.st_mtim.tv_nsec != then->st_mtim.tv_nsec || now.st_ino != then->st_ino
        || now.st_size != then->st_size;
}

// ---- Words

static void say_keys(const Watch *w)
{
    fputc('\n', stdout);
    if (w->terminal) say(0, "Keys: h hint, l list, n next, q quit; or save the file.");
    else say(0, "(Waiting for the file to be saved. Ctrl-C ends this.)");
    fflush(stdout);
}

static void say_time(void)
{
    char clock[16];
    time_t now = time(NULL);
    strftime(clock, sizeof clock, "%H:%M:%S", localtime(&now));
    fputc('\n', stdout);
    say_state(TELLS, "WATCH", "%s, saved", clock);
}

static void say_lesson(const Watch *w)
{
    char *title = lesson_title(w->lesson);
    say_state(TELLS, "WATCH", "lesson %d: %s", w->lesson->number, title);
    say(2, "Edit and save %s. Its text: make read-%d", w->lesson->exercise, w->lesson->number);
    fputc('\n', stdout);
    free(title);
}

// ---- Acts

// Runs a program to its end, in the tree's root, with our output. False: it failed.
static bool run(const char *const *argv)
{
    Spawn spawn = {
        .argv = argv, .from = { STDOUT_FILENO, STDERR_FILENO }, .to = { 1, 2 }, .descriptors = 2
    };
    int status = 1;
    fflush(stdout);
    pid_t pid = process_start(&spawn);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void grade(Watch *w)
{
    char *program = text_format("build/grader/%s", w->lesson->name);
    const char *argv[] = { program, w->lesson->exercise, NULL };
    if (stat(w->lesson->exercise, &w->seen) != 0)
        printf("%s is missing. Type: make reset-%d\n", w->lesson->exercise, w->lesson->number);
    else run(argv);
    free(program);
    say_keys(w);
}

// Builds what grading the lesson takes, where it is not there yet, and grades it. False: it cannot
// be built.
static bool begin(Watch *w, const Lesson *lesson)
{
    char *target = text_format("ready-%d", lesson->number);
    const char *argv[] = { "make", "--no-print-directory", target, NULL };
    w->lesson = lesson;
    say_lesson(w);
    bool good = run(argv);
    if (good) grade(w);
    free(target);
    return good;
}

static bool go_on(Watch *w)
{
    const Lesson *next = lesson_after(w->lesson->number);
    if (next) return begin(w, next);
    puts("This is the last lesson.");
    say_keys(w);
    return true;
}

// False: the end.
static bool obey(Watch *w, char key)
{
    if (key && strchr("hln", key)) fputc('\n', stdout);
    switch (key) {
    case 'h': hint(w->lesson); break;
    case 'l': progress(); break;
    case 'n': return go_on(w);
    case 'q': return false;
    default: return true;
    }
    say_keys(w);
    return true;
}

// Reads what has come. False: the end.
static bool read_keys(Watch *w)
{
    char key;
    ssize_t n = read(STDIN_FILENO, &key, 1);
    w->keys = n > 0 || (n < 0 && errno == EINTR);
    return n <= 0 || obey(w, key);
}

// What inotifywait wrote only says that it is time to look; an editor may need a moment more.
static void drain(Watch *w)
{
    char names[4096];
    poll(NULL, 0, SETTLE_MS);
    if (read(w->told, names, sizeof names) <= 0) {
        close(w->told); // it ended: from now on, look
        w->told = -1;
    }
}

static const Lesson *current(void)
{
    const Lesson *list, *next = outcome_next();
    size_t count = lessons(&list);
    return next ? next : count ? &list[count - 1] : NULL;
}

int watch(const Lesson *lesson)
{
    Watch w = { .told = start_telling(), .keys = true, .terminal = isatty(STDIN_FILENO) };
    if (!lesson && !(lesson = current())) return 1;
    if (w.terminal) take_keys();
    if (!begin(&w, lesson)) return 1;
    for (;;) {
        struct pollfd on[] = { { .fd = w.keys ? STDIN_FILENO : -1, .events = POLLIN },
                               { .fd = w.told, .events = POLLIN } };
        if (poll(on, 2, w.told < 0 ? LOOK_MS : -1) < 0 && errno != EINTR) return 1;
        if (on[1].revents) drain(&w);
        if (is_saved(&w)) {
            say_time();
            grade(&w);
        }
        if (on[0].revents && !read_keys(&w)) return 0;
    }
}
