// Grading a class: build/grader/class SUBMISSIONS GRADES, for `make grade`.
//
//     collect.c   whose submissions there are, and a sealed copy of each
//     secret.c    hashes, seeds and pseudonyms, from a key of the class's own
//     run.c       the lessons' graders, as many at once as there are cores
//     book.c      the gradebook, from the results alone
//
// A folder for each student holds files that are named as the exercises are. GRADES has
//
//     secret                           the key: the seeds can be worked out from it
//     roster.csv                       pseudonym, student: the only file with names, but for
//     gradebook.csv sealed/HASH/exercises/NN-name.cu     what is graded, as it was when it was
//     taken results/PSEUDONYM/NN-name.json       the grader's result; .txt beside it: what the
//     student is told gradebook.csv                    a row for each student and lesson
//
// A result is written whole or not at all, and names the hash of what was graded, so a run that was
// ended at any moment goes on where it was.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { HASH_DIGITS = 64, PSEUDONYM_DIGITS = 12, SEED_DIGITS = 16, SUBMISSION_BYTES = 1 << 20 };

typedef struct Submission {
    char *student, *lesson;               // "Ada Lovelace", "05-transpose"
    char pseudonym[PSEUDONYM_DIGITS + 1]; // of the student
    char hash[HASH_DIGITS + 1];           // SHA-256 of the file; "": it was not taken
    char *sealed;                         // the copy's path; NULL: it was not taken
    char *refused;                        // why it was not taken; NULL: it was
    char *result, *words;                 // paths of what grading it makes
} Submission;

typedef struct Class {
    const char *folder, *grades; // where submissions come from, and where grades go
    Submission *submission;      // by student, then lesson
    size_t count;
} Class;

// ---- collect.c

// Finds the class's submissions and seals them: regular files of the lessons' names, at most
// SUBMISSION_BYTES. A file that is not taken is a submission too, with the reason. False: the
// folder cannot be read, or GRADES cannot be written; it has said why.
bool class_collect(Class *c);

// Is the n-th submission the first one of its student?
bool class_is_new_student(const Class *c, size_t n);

// ---- secret.c

// Reads the key, or makes one, in a file of mode 0600. False: errno says why.
bool secret_open(const char *grades);

// Lower-case hexadecimal digits, then a 0. SHA-256 of bytes; and keyed with the secret (HMAC),
// `digits` of them, of "what: words".
void secret_hash(const void *bytes, size_t count, char hash[HASH_DIGITS + 1]);
void secret_keyed(const char *what, const char *words, char *text, size_t digits);

// ---- run.c

// Grades what has no result yet, `at_once` at a time. A grader that fails by itself is tried once
// more. False: a result could not be written; it has said which.
bool class_run(const Class *c, const char *root, int at_once);

// Is this result the one of that file, graded by this version?
bool class_is_graded(const Submission *s);

// ---- book.c

// Writes GRADES/gradebook.csv and roster.csv. False: errno says why.
bool class_write_book(const Class *c);
