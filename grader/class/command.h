// The commands about a class that is graded: build/grader/class COMMAND NAME=VALUE...
//
//     command.c   the words, whom and which lesson they mean, and the table of commands
//     log.c       the log (log.h)
//     standing.c  what the results and the log say of a mark
//     release.c   release: canaries, then the marks as they are given to students
//     regrade.c   regrade: anew, beside the old results, which stand until APPLY=1
//     said.c      override, comment, appeal, log
//     variant.c   variant: proofs and handouts of the class's variants
//     forget.c    forget: what there is of a student, but for the log
//     report.c    report: the results as pages (report.h)
#pragma once
#include "class.h"
#include "log.h"

typedef struct Words {
    const char *grades, *submissions, *student, *lesson, *points, *who, *why,
        *words;            // "": not said
    const char *pseudonym; // of student
    bool apply, lower;
} Words;

// Is this a call of such a command? Then it runs, and *status is the program's.
bool command_main(int count, char **words, int *status);

// The n-th submission is of the student and the lesson that were said, where they were.
bool command_means(const Words *w, const Submission *s);

// "Ada Lovelace's 05-transpose", fit for a terminal; the caller frees it.
char *command_name(const Submission *s);

// A line for the log, by `who` and of that submission (NULL: of none).
json_t *command_line(const Words *w, const char *what, const Submission *s);

// The words with pseudonyms for the names of the class's students, and for parts of the name of
// `of` (who may be NULL), also of the one under which this student hands in; the caller frees them.
char *command_without_names(const Class *c, const Student *of, const char *words);

// Writes the gradebook anew. Returns the exit status: `status`, or 1.
int command_write_book(Class *c, int status);

// Remembers where the class's submissions are, for the commands. False: errno says why.
bool command_keep_folder(const Class *c);

// ---- standing.c. A MARK is {"verdict", "step": or null, "points": or null, "graded": these before
// an override, "found": the grader's own points, before what being late costs and class.cfg says,
// "gold": or null, "hash", "version", "toolkit", "device", "token", "variant", "overridden": true,
// if it is}. A result's mark has no "graded" and "found"; its points are the grader's own.

// The mark of a result of the grader, or of the file with it; NULL: it is of another file than the
// submission, or none.
json_t *standing_of_result(const Submission *s, const json_t *result);
json_t *standing_read(const Submission *s, const char *path);

// The mark that stands, and the submission that counts for it: an empty one where there is none.
json_t *standing_mark(const Mark *m);
Submission standing_of(const Mark *m);

// Gives a mark the points of the log's override, if there is one.
void standing_override_mark(Mark *m);

// With the points of the log's override, if there is one. NULL stays NULL.
json_t *standing_overridden(const Submission *s, json_t *mark);

// The line of the log with the override that stands, and with what was released last; or NULL.
const json_t *standing_override(const Submission *s);
const json_t *standing_released(const Submission *s);

double standing_points(const json_t *mark);

// "SLOW, 7 points"; the caller frees it.
char *standing_words(const json_t *mark);

// A released mark is not to be lowered: says so, unless LOWER=1 stands there, and says that it is
// then. `mark` is what is to stand.
bool standing_may_stand(const Words *w, const Submission *s, const json_t *mark);

// It is the grader's or the machine's failure, and no student's mark.
bool standing_is_fault(const json_t *mark);

// ---- The commands: each returns the exit status. The log is open, and nobody else writes.

int release(Class *c, const Words *w);
int regrade(Class *c, const Words *w);

// Says how many results another version has graded, if any.
void regrade_say_older(const Class *c);
int override(Class *c, const Words *w);
int comment(Class *c, const Words *w);
int appeal(Class *c, const Words *w);
int forget(Class *c, const Words *w);
int report(Class *c, const Words *w);
int show_log(Class *c, const Words *w);

// Before a class is graded, too: only class.cfg and the secret are read.
int make_variants(Class *c, const Words *w);

// All that a command of the shell's prints, with a 0 after it; *count of its bytes. NULL: nothing,
// or it ended with another status than 0. The caller frees it.
char *command_printed(const char *command, size_t *count);
