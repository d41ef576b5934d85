// The command, called in the project's root:
//
//     build/grader/integrity viva [--answers] GRADES STUDENT [LESSON]    questions about what a
//                                  student handed in, the last lesson's without LESSON (8, 08)
//     build/grader/integrity viva [--answers] --file FILE GRADES         about a file, of the
//                                  environment's VARIANT (grader/variant.h), if there is one
//     build/grader/integrity list GRADES      what was graded: pseudonym, lesson, hash, path and
//                                             variant ("": none), which a tab each divides
#define _GNU_SOURCE
#include "integrity.h"
#include "file.h"
#include "process.h"
#include "text.h"
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int usage(void)
{
    fputs("usage: integrity viva [--answers] GRADES STUDENT [LESSON]\n"
          "       integrity viva [--answers] --file FILE GRADES\n"
          "       integrity list GRADES\n",
          stderr);
    return 2;
}

static bool is_lesson(const char *lesson, const char *wanted)
{
    if (!*wanted || strcmp(lesson, wanted) == 0) return true;
    char *end;
    long number = strtol(wanted, &end, 10);
    return !*end && number == strtol(lesson, NULL, 10);
}

// The last one of a student, who is named or a pseudonym, and of a lesson ("": any). NULL: there is
// none, and it has said so.
static const Graded *find(const char *grades, const char *name, const char *lesson)
{
    const char *student = roster_name(name);
    char pseudonym[PSEUDONYM_DIGITS + 1];
    size_t count;
    const Graded *all = graded_find(grades, &count), *found = NULL;
    secret_keyed("student", student, pseudonym, PSEUDONYM_DIGITS);
    for (const Graded *g = all; g < all + count; g++)
        if ((!strcmp(g->pseudonym, pseudonym) || !strcmp(g->pseudonym, student))
            && is_lesson(g->lesson, lesson))
            found = g;
    if (!found)
        fprintf(stderr,
                "%s/results: nothing that was graded is of student %s (%s) and lesson %s. "
                "Grade the class first, and name the student as its folder is named.\n",
                grades, student, pseudonym, *lesson ? lesson : "1 or later");
    return found;
}

// A file that need not be a class's: its hash is its name.
static bool name_file(const char *path, Graded *g)
{
    char *name = basename(strdup(path)), *end = strrchr(name, '.');
    if (end && strcmp(end, ".cu") == 0) *end = 0;
    char *text = mutant_text(path, NULL), *hash = malloc(HASH_DIGITS + 1),
         *variant = getenv("VARIANT");
    if (!text) file_amiss(path);
    else if (!class_has_lesson(name))
        fprintf(stderr, "%s: no lesson has that name. Name it as exercises/ does.\n", path);
    else {
        secret_hash(text, strlen(text), hash);
        *g = (Graded){ .pseudonym = strndup(hash, PSEUDONYM_DIGITS),
                       .lesson = name,
                       .hash = hash,
                       .variant = variant && *variant ? variant : NULL,
                       .sealed = realpath(path, NULL) };
    }
    free(text);
    return g->sealed;
}

static int list(const char *grades)
{
    size_t count;
    const Graded *all = graded_find(grades, &count);
    for (size_t n = 0; n < count; n++)
        printf("%s\t%s\t%s\t%s\t%s\n", all[n].pseudonym, all[n].lesson, all[n].hash, all[n].sealed,
               all[n].variant ? all[n].variant : "");
    if (!count) fprintf(stderr, "%s: nothing was graded here. Type: make grade\n", grades);
    return !count;
}

int main(int count, char **words)
{
    static const struct option OPTIONS[] = { { "answers", no_argument, NULL, 'a' },
                                             { "file", required_argument, NULL, 'f' },
                                             { 0 } };
    char root[PATH_MAX], *file = NULL;
    bool answers = false;
    umask(CLASS_UMASK);
    for (int option; (option = getopt_long(count, words, "", OPTIONS, NULL)) != -1;)
        if (option == 'a') answers = true;
        else if (option == 'f') file = optarg;
        else return usage();
    int left = count - optind;
    char **word = words + optind;
    if (left == 2 && strcmp(word[0], "list") == 0) return list(word[1]);
    bool named = !file && (left == 3 || left == 4), of_file = file && left == 2;
    if (!(named || of_file) || strcmp(word[0], "viva") || !getcwd(root, sizeof root))
        return usage();
    if (file) mkdir(word[1], 0777);
    const char *grades = realpath(word[1], NULL);
    if (!grades || !secret_open(grades)) {
        file_amiss(word[1]);
        return 1;
    }
    if (!trust_find()) return 1; // the mutants are no more to be trusted than the file is
    process_adopt();
    Graded g = { 0 };
    const Graded *of = &g;
    if (file ? !name_file(file, &g) : !(of = find(grades, word[2], left == 4 ? word[3] : "")))
        return 1;
    return viva_ask(grades, root, of, answers);
}
