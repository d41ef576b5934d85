// What an instructor looks at besides the verdicts: build/grader/integrity, for `make viva` and
// `make similar`. It reads what grading a class has left in GRADES (class.h).
//
//     find.c       the submissions that were graded
//     mutants.c    a file's mutants, by mutate.sh
//     viva.c       asks about three of them
//     main.c       the command
#pragma once
#include "class.h"

typedef struct Graded {
    char *pseudonym, *lesson, *hash, *sealed; // as Submission has them
    char *variant;                            // that was graded, or NULL
    long long when;                           // its result was written, in seconds
} Graded;

// ---- find.c

// Finds what results/ says was graded and whose sealed copy is there, by pseudonym, lesson, then
// the oldest first. *count of them; NULL: there are none.
Graded *graded_find(const char *grades, size_t *count);

// ---- mutants.c

typedef struct Mutant {
    int line;           // from 1
    bool own;           // the student wrote the line; false: it is the skeleton's
    char *rule;         // of grader/integrity/mutations
    char *before, *now; // the line, without blanks around it; now "": it was deleted
    char *changed;      // the line as it is in the mutant
    char key[SEED_DIGITS + 1];
} Mutant;

// Lists a file's mutants, in the order in which a viva tries them: those of the student's own
// lines first, each kind of mistake in turn, otherwise as the class's secret and `whose` say.
// *count of them; NULL: mutate.sh failed, and has said why, or there are none.
Mutant *mutants_list(const char *file, const char *lesson, const char *whose, size_t *count);

// The file's text with the mutant's line in place of its own; m NULL: as it is. The caller frees
// it. NULL: errno says why.
char *mutant_text(const char *file, const Mutant *m);

// ---- viva.c

// Asks three questions about a file, on standard output; answers: and says what the device found.
// Mutants and their results stay in GRADES/viva/PSEUDONYM. Returns the exit status: 1 where there
// are no three questions, or something failed; it has said so.
int viva_ask(const char *grades, const char *root, const Graded *of, bool answers);
