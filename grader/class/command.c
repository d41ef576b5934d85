#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

// What can be said, and which of it each command needs and takes.
enum {
    GRADES = 1,
    STUDENT = 2,
    LESSON = 4,
    POINTS = 8,
    WHO = 16,
    WHY = 32,
    WORDS = 64,
    APPLY = 128,
    LOWER = 256,
    SUBMISSIONS = 512,
    ALWAYS = GRADES | SUBMISSIONS
};

static const struct {
    const char *name, *example;
} words_named[] = {
    { "GRADES", "FOLDER" },     { "STUDENT", "\"Ada Lovelace\"" },
    { "LESSON", "5" },          { "POINTS", "7" },
    { "WHO", "\"your name\"" }, { "WHY", "\"the reason\"" },
    { "WORDS", "\"words\"" },   { "APPLY", "1" },
    { "LOWER", "1" },           { "SUBMISSIONS", "FOLDER" },
};

enum { NAMES = sizeof words_named / sizeof *words_named };

static const struct {
    const char *name, *does;
    int (*act)(Class *, const Words *);
    unsigned needs, takes;
} commands[] = {
    { "release", "record the marks as they are given to students, once the canaries are well",
      release, WHO, STUDENT | LESSON | WHY | LOWER },
    { "regrade", "grade anew and show what would change; APPLY=1 makes it so", regrade, WHO | WHY,
      STUDENT | LESSON | APPLY | LOWER },
    { "override", "give a mark other points; POINTS=graded takes that back", override,
      STUDENT | LESSON | POINTS | WHO | WHY, LOWER },
    { "comment", "say something about a mark", comment, STUDENT | LESSON | WHO | WORDS, 0 },
    { "appeal", "record what a student says against a mark", appeal, STUDENT | LESSON | WHO | WORDS,
      0 },
    { "forget", "delete what there is of a student", forget, STUDENT | WHO, WHY },
    { "report", "write pages for the instructor and for each student", report, 0, 0 },
    { "variant",
      "prove that the class's variants of lessons can be done, and write what students get",
      make_variants, 0, LESSON },
    { "log", "verify the log and show it", show_log, 0, STUDENT | LESSON },
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void say_usage(FILE *f, size_t command)
{
    fprintf(f, "make %s", commands[command].name);
    for (size_t n = 0; n < NAMES; n++)
        if (commands[command].needs >> n & 1)
            fprintf(f, " %s=%s", words_named[n].name, words_named[n].example);
    for (size_t n = 0; n < NAMES; n++)
        if ((commands[command].takes | ALWAYS) >> n & 1)
            fprintf(f, " [%s=%s]", words_named[n].name, words_named[n].example);
    fprintf(f, "\n    %s\n", commands[command].does);
}

// ---- The words

static bool refuse(size_t command, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(size_t command, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    vfprintf(stderr, format, more);
    va_end(more);
    fputs("\n", stderr);
    say_usage(stderr, command);
    return false;
}

static const char **place_of(Words *w, unsigned bit)
{
    return bit == GRADES      ? &w->grades
         : bit == SUBMISSIONS ? &w->submissions
         : bit == STUDENT     ? &w->student
         : bit == LESSON      ? &w->lesson
         : bit == POINTS      ? &w->points
         : bit == WHO         ? &w->who
         : bit == WHY         ? &w->why
         : bit == WORDS       ? &w->words
                              : NULL;
}

static bool take_switch(size_t command, const char *name, const char *value, bool *on)
{
    *on = strcmp(value, "1") == 0;
    return *on || !*value || strcmp(value, "0") == 0
        || refuse(command, "%s=%s: %s is 1, or left out.", name, value, name);
}

// NAME=VALUE; an empty value says nothing.
static bool take(size_t command, Words *w, const char *word)
{
    const char *value = strchr(word, '=');
    for (size_t n = 0; value && n < NAMES; n++) {
        const char *name = words_named[n].name;
        if (strlen(name) != (size_t)(value - word) || strncmp(word, name, strlen(name))) continue;
        unsigned bit = 1u << n;
        if (!*++value) return true;
        if (!((commands[command].needs | commands[command].takes | ALWAYS) & bit))
            return refuse(command, "%s does not take %s.", commands[command].name, name);
        if (bit == APPLY) return take_switch(command, name, value, &w->apply);
        if (bit == LOWER) return take_switch(command, name, value, &w->lower);
        for (const char *c = value; *c; c++)
            if (iscntrl((unsigned char)*c))
                return refuse(command, "%s has a control character.", name);
        json_t *text = json_string(value);
        if (!text) return refuse(command, "%s is not UTF-8.", name);
        json_decref(text);
        *place_of(w, bit) = value;
        return true;
    }
    return refuse(command, "%s: there is no such setting.", word);
}

// A letter or a part of one, or a digit: inside of a word.
static bool is_inside(char c) { return isalnum((unsigned char)c) || (unsigned char)c > 127; }

// A person's name has a letter, and at most 200 bytes.
static bool is_name(const char *who)
{
    bool letter = false;
    for (const char *c = who; *c; c++)
        letter = letter || (is_inside(*c) && !isdigit((unsigned char)*c));
    return letter && strlen(who) <= 200;
}

static bool read_words(size_t command, Words *w, int count, char **words)
{
    *w = (Words){ "", "", "", "", "", "", "", "", NULL, false, false };
    for (int n = 0; n < count; n++)
        if (!take(command, w, words[n])) return false;
    for (size_t n = 0; n < NAMES; n++) {
        const char **place = place_of(w, 1u << n);
        if (commands[command].needs >> n & 1 && !**place)
            return refuse(command, "%s is missing.", words_named[n].name);
    }
    if (!*w->grades) return refuse(command, "GRADES is missing.");
    if (*w->who && !is_name(w->who))
        return refuse(command, "WHO=%s: WHO is the name of a person.", w->who);
    return true;
}

// ---- Whom and which lesson they mean

bool command_means(const Words *w, const Submission *s)
{
    return (!w->pseudonym || strcmp(s->pseudonym, w->pseudonym) == 0)
        && (!*w->lesson || strcmp(s->lesson, w->lesson) == 0);
}

// "5", "05" or "05-transpose".
static bool find_lesson(Words *w)
{
    glob_t found = { 0 };
    const char *name = NULL;
    size_t digits = strspn(w->lesson, "0123456789");
    glob("lessons/[0-9][0-9]-*.md", 0, NULL, &found);
    for (size_t n = 0; n < found.gl_pathc && !name; n++) {
        char *lesson = strdup(found.gl_pathv[n] + strlen("lessons/"));
        lesson[strlen(lesson) - strlen(".md")] = 0;
        bool number = digits && !w->lesson[digits] && atoi(lesson) == atoi(w->lesson);
        if (number || strcmp(lesson, w->lesson) == 0) name = lesson;
        else free(lesson);
    }
    globfree(&found);
    if (!name)
        fprintf(stderr, "There is no lesson %s. A lesson is a number, or a name of lessons/.\n",
                w->lesson);
    else w->lesson = name;
    return name;
}

// A name or a pseudonym. One who was forgotten can be forgotten again.
static bool find_student(const Class *c, Words *w, bool forgotten)
{
    for (size_t n = 0; n < c->students; n++) {
        const Student *s = &c->student[n];
        if (strcmp(s->name, w->student) && strcmp(s->pseudonym, w->student)) continue;
        w->pseudonym = s->pseudonym;
        return true;
    }
    char *pseudonym = malloc(PSEUDONYM_DIGITS + 1);
    secret_keyed("student", w->student, pseudonym, PSEUDONYM_DIGITS);
    bool gone = class_is_forgotten(pseudonym);
    w->pseudonym = pseudonym;
    if (gone && forgotten) return true;
    fprintf(stderr,
            gone ? "The student %s was forgotten.\n"
                 : "There is no student %s in this class. A student is a name as the "
                   "gradebook has it, or a pseudonym.\n",
            w->student);
    return false;
}

static bool find(const Class *c, Words *w, bool forgotten)
{
    if (*w->lesson && !find_lesson(w)) return false;
    if (*w->student && !find_student(c, w, forgotten)) return false;
    for (size_t n = 0; n < c->marks; n++) {
        const Submission s = standing_of(&c->mark[n]);
        if (command_means(w, &s)) return true;
    }
    if (forgotten) return true;
    fprintf(stderr, "%s%shas no mark%s%s.\n", *w->student ? w->student : "The class", " ",
            *w->lesson ? " in " : "", w->lesson);
    return false;
}

char *command_name(const Submission *s)
{
    char *student = text_clean(s->student), *name = text_format("%s's %s", student, s->lesson);
    free(student);
    return name;
}

json_t *command_line(const Words *w, const char *what, const Submission *s)
{
    json_t *line = json_pack("{ss ss}", "what", what, "who", w->who);
    if (s) json_object_set_new(line, "student", json_string(s->pseudonym));
    if (s) json_object_set_new(line, "lesson", json_string(s->lesson));
    if (*w->why) json_object_set_new(line, "why", json_string(w->why));
    if (*w->words) json_object_set_new(line, "words", json_string(w->words));
    return line;
}

// ---- Names stay out of the log

// The words with a pseudonym for each time that the name stands there.
static char *without(char *words, const char *name, const char *pseudonym)
{
    size_t length = strlen(name);
    for (char *at = words; length && (at = strstr(at, name));) {
        if ((at > words && is_inside(at[-1])) || is_inside(at[length])) {
            at++;
            continue;
        }
        size_t before = (size_t)(at - words);
        char *fresh =
            text_format("%.*s%s%s", (int)before, words, pseudonym, words + before + length);
        free(words);
        words = fresh;
        at = words + before + strlen(pseudonym);
    }
    return words;
}

// Parts of a name too, "Ada" of "Ada Lovelace", which have a few letters at least.
static char *without_parts(char *words, const char *name, const char *pseudonym)
{
    enum { FEW = 3 };
    char *parts = strdup(name), *next = parts;
    for (char *part; (part = strsep(&next, " ,"));)
        if (strlen(part) >= FEW) words = without(words, part, pseudonym);
    free(parts);
    return words;
}

char *command_without_names(const Class *c, const Student *of, const char *words)
{
    char *clean = strdup(words);
    for (size_t n = 0; n < c->students; n++)
        clean = without(clean, c->student[n].name, c->student[n].pseudonym);
    if (!of) return clean;
    if (of->hands_in) clean = without_parts(clean, of->hands_in, of->pseudonym);
    return without_parts(clean, of->name, of->pseudonym);
}

// Parts of a name are taken out where it is the name of the one who is meant.
static void take_names_out(const Class *c, const Words *w, const char **words)
{
    const Student *of = NULL;
    for (size_t n = 0; w->pseudonym && n < c->students; n++)
        if (strcmp(c->student[n].pseudonym, w->pseudonym) == 0) of = &c->student[n];
    char *clean = command_without_names(c, of, *words);
    if (strcmp(clean, *words) != 0) printf("The log has no names. It says: %s\n", clean);
    *words = clean;
}

// Who appeals may be the student. Others may share a part of the name, or have it inside of theirs.
static void take_name_out(const Class *c, const char **who)
{
    for (size_t n = 0; n < c->students; n++)
        if (strcmp(c->student[n].name, *who) == 0) *who = c->student[n].pseudonym;
}

// ---- The class

// What a run that was just killed had started has its lock for a moment longer.
static bool lock(int folder)
{
    enum { TRIES = 20, PAUSE_MS = 50 };
    for (int tries = 0; folder >= 0 && tries < TRIES; tries++) {
        if (flock(folder, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK) return false;
        poll(NULL, 0, PAUSE_MS);
    }
    return false;
}

bool class_is_alone(const char *grades)
{
    int folder = open(grades, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool alone = lock(folder);
    if (!alone)
        fprintf(stderr,
                folder < 0 ? "%s: it cannot be read\n"
                           : "%s: another run is grading into this folder. Wait until it "
                             "has ended.\n",
                grades);
    return alone;
}

static bool write_folder(FILE *f, void *what) { return fprintf(f, "%s\n", (char *)what) > 0; }

bool command_keep_folder(const Class *c)
{
    char *path = text_format("%s/submissions", c->grades), *folder = realpath(c->folder, NULL);
    bool good = folder && file_write(path, write_folder, folder);
    free(path);
    free(folder);
    return good;
}

// The folder that was graded last, or NULL.
static char *kept_folder(const char *grades)
{
    char *path = text_format("%s/submissions", grades), *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    if (f && getline(&line, &room, f) > 0) line[strcspn(line, "\n")] = 0;
    if (f) fclose(f);
    free(path);
    return line;
}

static bool is_graded(const char *grades)
{
    char *secret = text_format("%s/secret", grades);
    bool there = access(secret, R_OK) == 0;
    free(secret);
    if (!there)
        fprintf(stderr,
                "%s: no class was graded into this folder. Type: make grade SUBMISSIONS=FOLDER "
                "GRADES=%s\n",
                grades, grades);
    return there;
}

static bool load(Class *c, const Words *w)
{
    char *folder = *w->submissions ? strdup(w->submissions) : kept_folder(w->grades);
    *c = (Class){ .folder = folder, .grades = w->grades };
    if (!class_is_alone(c->grades)) return false;
    if (folder && access(folder, R_OK) == 0) return class_collect(c) && class_mark(c);
    fprintf(stderr,
            "%s: %s. The submissions were there: say where they are now, with "
            "SUBMISSIONS=FOLDER\n",
            folder ? folder : w->grades, strerror(errno));
    return false;
}

int command_write_book(Class *c, int status)
{
    if (class_mark(c) && class_write_book(c)) return status;
    fprintf(stderr, "%s/gradebook.csv: %s\n", c->grades, strerror(errno));
    return 1;
}

static int run(size_t command, int count, char **words)
{
    Words w;
    Class c;
    if (!read_words(command, &w, count, words)) return 2;
    bool shows = commands[command].act == show_log, makes = commands[command].act == make_variants;
    if (!makes && !is_graded(w.grades)) return 1;
    w.student = roster_name(w.student);
    if ((shows || makes) && *w.lesson && !find_lesson(&w)) return 1;
    if (makes) return make_variants(&(Class){ .grades = w.grades }, &w);
    if (shows) return show_log(&(Class){ .grades = w.grades }, &w);
    if (!load(&c, &w) || !find(&c, &w, commands[command].act == forget)) return 1;
    take_names_out(&c, &w, &w.why);
    take_names_out(&c, &w, &w.words);
    take_name_out(&c, &w.who);
    return commands[command].act(&c, &w);
}

static void say_all(FILE *f, const char *program)
{
    fprintf(f, "usage: %s [--slurm] SUBMISSIONS GRADES\n       %s COMMAND NAME=VALUE...\n\n",
            program, program);
    for (size_t n = 0; n < COMMANDS; n++) say_usage(f, n);
}

bool command_main(int count, char **words, int *status)
{
    bool settings = true; // SUBMISSIONS may be called as a command is
    for (int n = 2; n < count; n++) settings = settings && strchr(words[n], '=');
    if (count > 1 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "help") == 0)
        && settings) {
        say_all(stdout, words[0]);
        *status = 0;
        return true;
    }
    for (size_t n = 0; count > 1 && settings && n < COMMANDS; n++) {
        if (strcmp(words[1], commands[n].name)) continue;
        *status = run(n, count - 2, words + 2);
        return true;
    }
    if (count == 3) return false;
    say_all(stderr, words[0]);
    *status = 2;
    return true;
}
