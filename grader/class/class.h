// Grading a class: build/grader/class SUBMISSIONS GRADES, for `make grade`.
//
//     rules.c     class.cfg: deadlines, late days, weights, extensions
//     table.c     CSV files, read and written; time.c reads times
//     roster.c    roster.csv and groups.csv: the students
//     manifest.c  manifest.csv and Gradescope's metadata: what was handed in when
//     found.c     the exercises in a folder, an archive or a file
//     unpack.c    the exercises in an archive: runs in a sandbox of its own
//     collect.c   whose submissions there are, and a sealed copy of each
//     secret.c    hashes, seeds and pseudonyms, from a key of the class's own
//     variant.c   the variants of lessons that the class has
//     trust.c     what results made on this machine are worth
//     run.c       the lessons' graders, as many at once as there are cores
//     gpu.c       what is right, on GPUs too
//     slurm.c     the same on a cluster, in batches
//     late.c      what being late costs; marks.c: what each student gets in each lesson
//     gradescope.c  a submission's result as Gradescope takes it; gradescope/ has its scripts
//     book.c      the gradebook, from the results and the log alone
//     command.c   releasing, regrading, overriding ...: command.h has its files
//
// SUBMISSIONS has a folder or an archive for each student, or for each group, with files that are
// named as the exercises are. The instructor may add manifest.csv. GRADES has, of the instructor's,
//
//     class.cfg  roster.csv  groups.csv      all of them optional
//
// and of ours
//
//     secret                                 the key: the seeds can be worked out from it
//     pseudonyms.csv                         pseudonym, student
//     variants/NN-name.cu                    a variant as students get it (make variant)
//     sealed/HASH/exercises/NN-name.cu       what is graded, as it was when it was taken
//     results/PSEUDONYM/NN-name.json         the grader's result
//     results/PSEUDONYM/NN-name.txt          what the student is told
//     gradebook.csv                          a row for each student and lesson
//     results/PSEUDONYM/NN-name.HASH.json    the result of a file that was handed in before
//     results/PSEUDONYM/NN-name.N.json       the result that line N of the log has replaced
//     marks.csv                              a row for each student, with the total
//     report/                                index.html and PSEUDONYM.html (report.h)
//     log.jsonl log.last                     the log (log.h)
//     canaries/                              what a release has graded first (canary.h)
//     submissions                            where the submissions are
//
// Its owner alone can read it (CLASS_UMASK), but for the variants, which are handed out, and what
// is sealed, for those who know the hash. A name stands in no other file. A result is written whole
// or not at all, and names the hash of what was graded, so a run that was ended at any moment goes
// on where it was.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

enum {
    HASH_DIGITS = 64,
    PSEUDONYM_DIGITS = 12,
    SEED_DIGITS = 16,
    SUBMISSION_BYTES = 1 << 20, // of a file
    ARCHIVE_BYTES = 16 << 20,   // of an archive, packed or unpacked
    ARCHIVE_RATIO = 100,        // unpacked to packed, of an archive with more than a submission
    MOST_ENTRIES = 1000,        // of a folder or an archive
    NO_TIME = -1,               // a time_t: it is not known
    CLASS_UMASK = 066, // of what is written: others can go through a folder, and read nothing
};

typedef struct Student {
    char *name;     // "Ada Lovelace"
    char *hands_in; // the name of the folder or archive; NULL: the student's
    char *group;    // NULL: none
    char *refused;  // why nothing of this student is taken; NULL: it is
    char pseudonym[PSEUDONYM_DIGITS + 1];
} Student;

// A student's file for a lesson. What a group hands in is a submission of each member, and these
// have one result.
typedef struct Submission {
    char *student, *lesson;               // "Ada Lovelace", "05-transpose"; "": all lessons
    char pseudonym[PSEUDONYM_DIGITS + 1]; // of the student
    const char *variant;                  // of the lesson, that is graded; NULL: the lesson itself
    char hash[HASH_DIGITS + 1];           // SHA-256 of the file; "": it was not taken
    char *sealed;                         // the copy's path; NULL: it was not taken
    char *refused;                        // why it was not taken; NULL: it was
    char *result, *words;                 // paths of what grading it makes
    time_t time;                          // when it was handed in, or NO_TIME
    bool shared;                          // it is graded as that of another member
} Submission;

// ---- table.c

typedef struct Table {
    const char *path;
    char **heading; // of each column
    size_t columns, rows;
    char ***cell; // of each row, for each column
    int *line;    // on which each row's first cell is
} Table;

// Reads a CSV file (RFC 4180, UTF-8) whose first row names the columns, with those in `needed`
// (which ends with NULL) among them. Where there is no such file the table has no rows. False: it
// cannot be read so; it has said where and what to write.
bool table_read(Table *t, const char *path, const char *const *needed);

// The cell of that column in a row, or "" where there is no such column.
const char *table_cell(const Table *t, size_t row, const char *column);

// Says what is amiss with a row, as "path:line: words", and returns false.
__attribute__((format(printf, 3, 4))) bool table_amiss(const Table *t, size_t row,
                                                       const char *format, ...);

// Writes a cell, cleaned as by text_clean(), and what follows it, ',' or '\n'. One that a
// spreadsheet would take for a formula begins with an apostrophe. A number has at most two
// decimals, and is nothing if it is NAN.
void table_write(FILE *f, const char *words, char end);
void table_write_number(FILE *f, double number, char end);

// The number as it is written there.
enum { NUMBER_BYTES = 64 };
void table_number(double number, char text[NUMBER_BYTES]);

// ---- time.c

// Reads a time as ISO 8601 writes it: "2026-10-05T23:59:00+02:00", "2026-10-05 21:59Z". The zone is
// needed: *east of its seconds east of Greenwich; parts of a second are dropped. False: it is no
// such time.
bool time_read(const char *words, time_t *time, long *east);
#define TIME_EXAMPLE "2026-10-05T23:59:00+02:00"

// Writes a time for people, in a zone so many seconds east of Greenwich: "2026-10-05 23:59
// UTC+02:00".
enum { TIME_BYTES = 64 };
void time_write(time_t time, long east, char words[TIME_BYTES]);

// ---- rules.c

// What lateness costs.
typedef struct LateRules {
    int budget;     // days that a student may be late in the whole course, at no cost
    double penalty; // per cent of the points, for each day beyond the budget
    int most;       // days after which a submission is worth nothing; 0: no end
} LateRules;

enum { MOST_STEPS = 8 };

typedef struct LessonRule {
    char *lesson;
    double weight;   // in the total
    time_t deadline; // or NO_TIME
    long east;       // the zone that class.cfg writes it in, in seconds east of Greenwich
    double gold;     // points for it, beyond the full ones
    double points[MOST_STEPS + 1];
    int steps; // of `points`, which begins with a right answer's; -1: the ladder's own points
} LessonRule;

// What one student is granted. Names of lessons end with NULL.
typedef struct Extension {
    char *lesson; // NULL: all lessons
    int days;
} Extension;

typedef struct StudentRule {
    char *student; // or the pseudonym
    int line;      // of the file
    int budget;    // -1: the class's
    char **excused;
    Extension *extension;
    size_t extensions;
} StudentRule;

typedef struct Rules {
    const char *path;
    bool latest;       // of several submissions the latest counts, not the best
    bool graded_pages; // students' pages show what is graded, not what is released
    bool hidden_names; // the instructor's page of the report has pseudonyms
    bool gpu_counts;   // the verdict of both devices counts, where a submission was on a GPU
    bool gradescope;   // folders are as Gradescope's autograder has them
    LateRules late;
    char **variant;     // lessons that the class has a variant of; NULL: none; it ends with NULL
    LessonRule *lesson; // by name
    StudentRule *student;
    size_t lessons, students; // no lessons: those that somebody hands in
} Rules;

// Reads class.cfg; where there is none, the rules are the defaults. grader/class/example.cfg
// explains each setting. False: it has said file, line, and what to write.
bool rules_read(Rules *r, const char *path);

// The rules for a lesson; where class.cfg has none, the defaults, which each call overwrites.
const LessonRule *rules_of_lesson(const Rules *r, const char *lesson);

// The rules for a student, or NULL.
const StudentRule *rules_of_student(const Rules *r, const Student *s);

bool rules_are_excused(const StudentRule *s, const char *lesson);

// A lesson's deadline for a student (who may be NULL), or NO_TIME.
time_t rules_deadline(const LessonRule *l, const StudentRule *s);

// ---- late.c

// The begun days of 24 hours between the deadline and the time; 0: in time, or either is NO_TIME.
int late_days(time_t time, time_t deadline);

// Of a submission that is so many days late and has so many points, what it is worth while the
// student has `left` days, and in *spent how many of these it takes: none if it is worth nothing.
double late_worth(const LateRules *l, double points, int days, int left, int *spent);

// One of several submissions of a lesson, in the order in which they were handed in.
typedef struct Attempt {
    double points; // before it costs anything to be late
    int days;
} Attempt;

// Which of them counts: the latest, or the one that is worth most; of those the one that takes the
// fewest days, and of those the first. There is at least one.
size_t late_choose(const LateRules *l, const Attempt *attempt, size_t count, int left, bool latest);

// ---- marks.c

// What a student gets in a lesson: a row of the gradebook.
typedef struct Mark {
    const Student *student;
    const char *lesson;
    const Submission *submission; // the one that counts; NULL: there is none
    const char *verdict;          // of its result, or REFUSED, MISSING, EXCUSED; "": not graded
    int step, gold;               // -1: the lesson has none
    double graded;                // before an override of the log
    const char *overridden;       // by whom; NULL: by nobody
    double points, full;          // NAN: not known, since the grader failed, or excused
    double weight;
    int late_days, spent; // -1: it isn't known when it was handed in
    double lost;          // points that it cost to be late, before an override; NAN: not known
    const char *trusted;  // "yes", "user" or "no" (trust.c)
    json_t *read;         // of its result, as standing_read() has it (command.h); NULL: none
} Mark;

typedef struct Class {
    const char *folder, *grades; // where submissions come from, and where grades go
    const char *only;            // of `folder`, what is a submission; NULL: all that is there
    const char *graded;          // what class_tell() calls the submissions; NULL: nothing
    Rules rules;
    Student *student;       // by name
    Submission *submission; // by student, then lesson, then time
    Mark *mark;             // by student, then lesson
    char **lesson, **stray; // by name; and what was not graded, in words
    size_t count, students, marks, lessons, strays, forgotten;
} Class;

// Works out the marks from the results. Late days are spent in the order of the lessons' deadlines,
// and by name where two have the same one. The marks of an earlier call are no more. False: no
// memory.
bool class_mark(Class *c);

// The weighted total of a student's marks in per cent, excused lessons left out; NAN: one of them
// is not known, or there is none. `mark` is the student's first one.
double class_total(const Class *c, const Mark *mark);

// ---- roster.c

// Reads roster.csv and groups.csv. False: it has said what is amiss.
bool roster_read(Class *c, bool *listed);

// A copy of a name in the form that names are compared in: of a letter and its accent one character
// (Unicode's NFC), as most systems write it and macOS does not. The caller frees it.
char *roster_name(const char *name);

// The student of that name, or NULL; and a new one.
Student *roster_find(const Class *c, const char *name);
Student *roster_add(Class *c, const char *name);

// The members of the group, or the student, whom that name of a student, a group, a folder or an
// archive means. Returns how many, with their places in c->student in *members.
size_t roster_members(const Class *c, const char *name, size_t **members);

// ---- manifest.c

typedef struct HandIn {
    char *student, *path; // the path is below SUBMISSIONS
    char *lesson;         // NULL: whatever there is
    time_t time;          // or NO_TIME
} HandIn;

// Reads SUBMISSIONS/manifest.csv. False: it has said what is amiss.
bool manifest_read(const Class *c, HandIn **list, size_t *count);

// When Gradescope's submission_metadata.json in a student's folder says that it was handed in.
// Returns why that is not known, or NULL.
char *manifest_gradescope(const char *folder, time_t *time);

// ---- found.c

// A file of a lesson's name.
typedef struct File {
    char *lesson, *where; // where it lies in the folder or archive
    char *bytes;
    size_t count;
    char *refused; // why it is not taken; NULL: it is
} File;

typedef struct Found {
    File *file;
    size_t count, entries;
    char *refused; // why none of it is taken; NULL: it is
    char *other;   // the first file of another name
    size_t left;   // files that `skip` named
} Found;

// Finds the exercises in a folder, an archive or a file. Files at paths that are among `skip`, from
// `below` on, are left out. `lesson` is what a file is for whose name does not say, or NULL.
Found found_in(const char *path, const char *lesson, const HandIn *skip, size_t skips,
               size_t below);

// Two files for one lesson: neither is taken.
void found_add(Found *f, File file);
void found_free(Found *f);

// Is that the name of a lesson, as exercises have it?
bool class_has_lesson(const char *name);

// The length of the archive's suffix that a name ends with (".tar.gz"), or 0.
size_t found_suffix(const char *name);

// ---- unpack.c

// The exercises in the archive on standard input, to standard output: build/grader/class --unpack,
// which knows no secret. Returns the exit status.
//
//     file NAME BYTES WHERE-BYTES\n, the bytes, and where in the archive
//     refused NAME BYTES WHERE-BYTES\n, why the file is not taken, and where
//     none BYTES\n why none of the archive is taken
//     end\n
int unpack_main(void);

// ---- collect.c

// Finds the class's submissions and seals them. What is not taken is a submission too, with the
// reason. False: the class cannot be read, or GRADES not be written; it has said why.
bool class_collect(Class *c);

// Puts what is graded into FOLDER/exercises/NN-name.cu, which becomes s->sealed, with its hash.
// Where there are no namespaces another user compiles it, and so everybody can read it who knows
// where it is. False: errno says why.
bool class_seal(Submission *s, const char *folder, const void *bytes, size_t count);

// Removes what runs that were killed have half written below GRADES. Call it while nothing else
// writes there.
void class_sweep(const Class *c);

// ---- secret.c

// Reads the key, or makes one, in a file of mode 0600. False: errno says why.
bool secret_open(const char *grades);

// Lower-case hexadecimal digits, then a 0. SHA-256 of bytes; and keyed with the secret (HMAC),
// `digits` of them, of "what: words".
void secret_hash(const void *bytes, size_t count, char hash[HASH_DIGITS + 1]);
void secret_keyed(const char *what, const char *words, char *text, size_t digits);

// ---- variant.c

// The word of the class's variant of a lesson (variant.h), which comes from its secret; NULL: the
// class has the lesson itself. It lives as long as we do. Ends the program where the lesson's
// grader does not say.
const char *class_variant(const Rules *r, const char *lesson);

// The hash of the file that a result is of, or NULL.
const char *class_hash_of(const json_t *result);

// Is the result of this submission's file, and of its variant?
bool class_is_of(const Submission *s, const json_t *result);

// ---- trust.c

// Looks at what submissions run in and on, and says what is less than it should be. The level of
// what is graded here:
//     yes     in namespaces, on this project's simulated device
//     user    namespaces are refused, but each program is another user, and results are root's
//     no      anything else
// False: nothing can be graded, or the level is not "yes" and UNTRUSTED=1 does not tell to go on.
bool trust_find(void);
bool trust_is_told(void);
const char *trust_level(void);
const char *trust_isolation(void); // as the sandbox's --isolation takes it
const char *trust_device(void);    // as DEVICE takes it

// Is that level at least what would be had now? And does a mark of that level go into the
// gradebook?
bool trust_is_enough(const char *level);
bool trust_counts(const char *level);

// One of the levels: that word, or the least.
const char *trust_word(const char *level);

// A SHA-256 of the programs that a lesson's results come from: two results with the same one were
// made by the same build.
void trust_build(const char *root, const char *lesson, char hash[HASH_DIGITS + 1]);

// ---- run.c

// Grades what has no result yet, `at_once` at a time. A grader that fails by itself is tried once
// more. False: a result could not be written; it has said which.
bool class_run(const Class *c, const char *root, int at_once);

// Runs and times on this machine's GPUs what is right and was not there yet, as many at a time as
// the GPUs allow. Also false: there is no GPU, which it has said.
bool class_run_on_gpus(const Class *c, const char *root);

// Is this result the one of that file and that variant, and trusted as much as one that is made
// here? It stands, whatever version graded it, until a regrade is applied.
bool class_is_graded(const Submission *s);

// The version that grades, of the file VERSION.
const char *class_version(void);

// The version of nvcc that compiles, or "".
const char *class_toolkit(void);

// What has no result yet, or a failed one, in the class's order; *count of them. On GPUs: what is
// right, and has none of a GPU yet. The caller frees it.
const Submission **class_find_due(const Class *c, bool on_gpus, size_t *count);

// On a terminal: how many of all are graded, how fast, and the time left. began: of seconds_now().
void class_tell(const Class *c, size_t done, size_t all, double began);

// ---- gpu.c. A result that a GPU has added to has, beside what result.h says of "gpu" (the run
// there), in "gpu" too
//
//     "verdict", "score", "fact"   of both devices together, as the grader judges them
//     "words"                      what it printed then
//     "trusted"                    always "no": a submission can forge what it is timed by
//     "isolation"                  of the sandbox (grader/sandbox/sandbox.h) that it ran in

// Looks for the GPUs that this process may use (CUDA_VISIBLE_DEVICES). Returns how many; 0: it has
// said why.
int gpus_find(void);

// So many of them, from number n on, which counts from 0: what CUDA_VISIBLE_DEVICES calls them,
// which the caller frees; and has them for this process alone until they are left. False: another
// run has one of them.
char *gpus_named(int n, int count);
bool gpus_take(int n, int count);
void gpus_leave(int n, int count);

// How many GPUs a submission gets, where there are `most`: 2 if its lesson is about several
// devices, as its result on the simulated ones says, or 1.
int gpus_wanted(const Submission *s, int most);

// All checks are passed on the simulated device. Is this submission's result such a one, with
// nothing of a GPU yet?
bool gpus_is_right(const json_t *result);
bool gpus_is_due(const Submission *s);

// Adds to the submission's result what the grader found on both devices (NULL: nothing) and said in
// the file `words`. False: it has said what cannot be written.
bool gpus_keep(const Submission *s, const json_t *timed, const char *words);

// " and NVIDIA H200: PASS gold", or "": no GPU. The caller frees it.
char *gpus_say(const json_t *result);

// ---- slurm.c

// The same by arrays of Slurm's, until all is graded or arrays end with nothing more graded. The
// options of sbatch(1) that it reads from the environment hold (SBATCH_PARTITION, ...). With a
// partition it is class_run_on_gpus() that runs there, a GPU a task; "1": in the partition that
// they name. False: it has said what is not graded.
bool class_run_on_slurm(const Class *c, const char *root, const char *gpu_partition);

// In a task: the submissions of a batch that class_run_on_slurm() has written, which have no
// student. False: it has said why.
bool class_read_batch(Class *c, const char *path);

// ---- command.c

// Two runs into one folder would do the same twice: takes a lock, which goes with the process.
// False: another run has it; it has said so.
bool class_is_alone(const char *grades);

// ---- standing.c

// The log says that this student was forgotten: nothing of them is taken.
bool class_is_forgotten(const char *pseudonym);

// ---- gradescope.c

// Writes c->folder/results/results.json as Gradescope's autograder wants it, whole or not at all:
// a test for each lesson, with the words that a student is told. c->folder is /autograder, and
// lateness is left to Gradescope. False: it has said why.
bool class_write_gradescope(const Class *c);

// ---- book.c

// Writes GRADES/gradebook.csv, marks.csv and pseudonyms.csv. False: errno says why.
bool class_write_book(const Class *c);
