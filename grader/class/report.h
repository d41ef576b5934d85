// The pages of `make report`.
//
//     report.c           the command: which pages there are, and what a student's page may show
//     report_class.c     index.html, for the instructor
//     report_student.c   PSEUDONYM.html
//     report_mistakes.c  what was wrong, and how often
//     report_verdicts.c  what the verdicts mean
//     page.c             HTML
#pragma once
#include "command.h"
#include "page.h"

// What a student's page shows of a lesson: the mark that stands, or the one that was released last.
typedef struct Shown {
    const char *verdict; // NULL: nothing is shown yet
    int step, gold, late_days;
    double points;
    const char *token; // what the verdict can be replayed with; "" or NULL: nothing
    char *words;       // the file with what the student is told; NULL: there is none
    bool stands;       // it is the mark that stands
} Shown;

// A mistake that students made in a lesson, and how many of them did. Those of one cause are one
// mistake, and the words are of the first of them.
typedef struct Mistake {
    const char *lesson;
    char *cause, *words;
    size_t count;
} Mistake;

typedef struct Report {
    const Class *c;
    const char *style;      // the style sheet
    const Shown *shown;     // of each of c->mark
    size_t hidden;          // how many of these do not stand
    const Mistake *mistake; // of all lessons, the commonest first
    size_t mistakes;
    const json_t *said; // the log's comments and appeals, an array
    const Mark *mark;   // of a student's page: the student's first one
} Report;

// They write a page of the Report, for file_write().
bool report_write_class(FILE *f, void *report);
bool report_write_student(FILE *f, void *report);

// A lesson's name; where a class has none, all that is refused is of a lesson "".
const char *report_lesson(const char *lesson);

// A number as the gradebook has it, and a count, which is nothing below 0, as cells.
void report_number(Page *p, double number);
void report_whole(Page *p, int number);
void report_gold(Page *p, int gold);

// Why a submission was refused, if it was, after those words: with pseudonyms for names, which are
// in the names of files.
void report_refused(Page *p, const Class *c, const Mark *m, const char *before);

// A row of the book's page of verdicts: the verdicts, what happened, and where to look.
typedef struct Meaning {
    const char *verdicts, *happened, *look;
} Meaning;

// What a verdict means, or a mark without one (MISSING); NULL: the book doesn't say.
const Meaning *report_meaning(const char *verdict);

// What was wrong with the files that count, *count mistakes: the commonest first. An exercise that
// is not done (TODO), and steps beyond the next one, are no mistakes.
Mistake *report_mistakes(const Class *c, size_t *count);
