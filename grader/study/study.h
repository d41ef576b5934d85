// The student's desk: the commands around grading, one program, study COMMAND [LESSON]. It runs in
// the tree's root, reads the lessons' texts and the graders' results, and judges nothing itself.
//
//     lesson.c    which lessons there are, and the sections of their texts
//     page.c      a section's Markdown on a terminal
//     say.c       words from a format
//     hint.c      the next of three hints
//     quiz.c      the quiz of a chapter
//     reset.c     a fresh skeleton, the old work kept
//     outcome.c   what the graders' results say
//     progress.c  a line a lesson
//     profile.c   counters and predicted time beside their bounds
//     compare.c   the student's answer beside ours
//     replay.c    a mark of a class, on this machine
//     watch.c     grades again whenever the exercise is saved
#pragma once
#include "file.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// ---- lesson.c

typedef struct Lesson {
    int number;
    char *name;     // "05-transpose"
    char *exercise; // "exercises/05-transpose.cu"
} Lesson;

// All of lessons/, in order; the count. Read once.
size_t lessons(const Lesson **list);

// The lesson after that number, or NULL.
const Lesson *lesson_after(int number);

// The lines below the heading that begins with `heading` ("### Hint 2"), up to the next heading of
// its level or above; *title is what the heading says after a colon, or "". NULL: there is no such
// heading. The caller frees both.
char *lesson_section(const Lesson *lesson, const char *heading, char **title);

// The first heading's words.
char *lesson_title(const Lesson *lesson);

// ---- page.c

// Prints Markdown: paragraphs broken to the terminal's width after `indent` spaces, code as it is.
// On the first paragraph's line `lead` stands in their place ("1. "); it may be "".
void page_print(FILE *out, int indent, const char *lead, const char *markdown);

// A copy without Markdown's marks, in the characters that the locale has; the caller frees it.
char *page_plain(const char *markdown);

// ---- say.c

// A paragraph after `indent` spaces.
__attribute__((format(printf, 2, 3))) void say(int indent, const char *format, ...);

// A line that begins with its state, in its colour (text_state).
__attribute__((format(printf, 3, 4))) void say_state(const char *colour, const char *state,
                                                     const char *format, ...);

// Of what asks and tells, as hints; of what needs an answer. (Verdicts have their own.)
#define TELLS "1;36"
#define ASKS "1;33"
#define WELL "1;32"

// ---- outcome.c

// What is known of the student's file of a lesson.
typedef struct Outcome {
    json_t *result;            // the grader's (result.h), or NULL: it never was graded
    const char *verdict;       // its word, or NULL
    int passed, checks, speed; // speed -1: none
    int step, steps;           // of the lesson's ladder; steps 0: none
    bool gold;                 // it keeps the expert's bounds
    bool edited;               // the file is newer than its result
} Outcome;

Outcome outcome_read(const Lesson *lesson);
void outcome_free(Outcome *o);

// Would grading it once more give the same? Neither the file nor what it was graded with is newer
// than the result, and the environment asks for nothing else.
bool outcome_is_current(const Outcome *o, const Lesson *lesson);

// Grades a file of the lesson in silence: the result, or NULL. What the grader prints goes to
// `said`.
json_t *outcome_grade(const Lesson *lesson, const char *file, const char *said);

// The first lesson that does not pass, or NULL.
const Lesson *outcome_next(void);

// Colour of a verdict's word, for text_state().
const char *outcome_colour(const char *verdict);

// ---- The commands: each returns the program's exit status.

int hint(const Lesson *lesson);
int quiz(const Lesson *lesson);
int reset(const Lesson *lesson);
int profile(const Lesson *lesson);
int compare(const Lesson *lesson);
int progress(void);
int replay(const char *token, const char *file); // "": the lesson's exercise
int watch(const Lesson *lesson);                 // NULL: the first that does not pass
