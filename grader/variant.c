#define _GNU_SOURCE
#include "variant.h"
#include "grader.h"
#include "text.h"
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 16, SHAPE_DIGITS = 4 };
#define HEXADECIMAL "0123456789abcdef"

// A lesson without variants has no such table.
#pragma weak grader_variants

static int rows(void)
{
    int count = 0;
    while (grader_variants && grader_variants[count].name) count++;
    return count;
}

// ---- The word

typedef struct Word {
    int row, number;
    unsigned shape;
} Word;

static bool are_digits(const char *text, size_t count)
{
    return strlen(text) == count && strspn(text, HEXADECIMAL) == count;
}

static char *write_word(Word w)
{
    return text_format("%s-%d-%0*x", grader_variants[w.row].name, w.number, SHAPE_DIGITS, w.shape);
}

// It is the word of a variant if it is what writing that variant gives.
static bool read_word(const char *text, Word *w)
{
    const char *number = strchr(text, '-'), *shape = strrchr(text, '-');
    if (!number || number == shape || !are_digits(shape + 1, SHAPE_DIGITS)) return false;
    *w = (Word){ .number = atoi(number + 1), .shape = (unsigned)strtoul(shape + 1, NULL, 16) };
    for (; w->row < rows(); w->row++) {
        const Variant *v = &grader_variants[w->row];
        if (w->number < v->least || w->number > v->largest) continue;
        char *same = write_word(*w);
        bool is = strcmp(same, text) == 0;
        free(same);
        if (is) return true;
    }
    return false;
}

// Takes so many of the digits.
static unsigned take(const char **digits, int count)
{
    char *part = strndup(*digits, (size_t)count);
    unsigned number = (unsigned)strtoul(part, NULL, 16);
    free(part);
    *digits += count;
    return number;
}

static Word draw(const char *digits)
{
    unsigned row = take(&digits, 6) % (unsigned)rows();
    const Variant *v = &grader_variants[row];
    unsigned number = take(&digits, 6) % (unsigned)(v->largest - v->least + 1);
    return (Word){ (int)row, v->least + (int)number, take(&digits, SHAPE_DIGITS) };
}

// ---- What lessons ask

const char *variant_word(void)
{
    const char *word = getenv("VARIANT");
    return word ? word : "";
}

// Read once: lessons ask for each element.
static Word asked(void)
{
    static Word w;
    static bool known;
    if (!known && !read_word(variant_word(), &w)) w = (Word){ .row = -1 };
    known = true;
    return w;
}

int variant(void) { return asked().row; }
int variant_number(void) { return asked().number; }

int sized(int ordinary, int low, int high)
{
    if (variant() < 0) return ordinary;
    uint64_t mixed = 0xcbf29ce484222325u; // FNV-1a, then its upper half
    uint32_t of[] = { asked().shape, (uint32_t)ordinary, (uint32_t)low, (uint32_t)high };
    for (size_t n = 0; n < sizeof of; n++)
        mixed = (mixed ^ ((const uint8_t *)of)[n]) * 0x100000001b3u;
    return low + (int)((mixed >> 32) % (uint64_t)(high - low + 1));
}

const char *variant_words(const char *what)
{
    advise("read the task at the head of the file that you were given for this variant");
    return text_format("That is %s, as the lesson itself has it. In the variant of your class the "
                       "function %s. C is %d.",
                       what, grader_variants[variant()].task, variant_number());
}

// ---- What the grader asks

char *variant_title(int number)
{
    return *variant_word() ? text_format("lesson %d (%s)", number, variant_word())
                           : text_format("lesson %d", number);
}

// The lessons that have variants, by their numbers.
static void say_lessons(const char *root)
{
    glob_t found;
    char *pattern = text_format("%s/grader/variants/*/rows.def", root);
    fputs("Lessons that have some:", stderr);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t n = 0; n < found.gl_pathc; n++)
            fprintf(stderr, " %d", atoi(basename(dirname(found.gl_pathv[n]))));
    fputs("\n", stderr);
    globfree(&found);
    free(pattern);
}

static bool refuse(const char *lesson, const char *root, const char *word)
{
    if (!rows()) {
        fprintf(stderr, "Lesson %d has no variants. ", atoi(lesson));
        say_lessons(root);
        return false;
    }
    char *clean = text_clean(word);
    fprintf(stderr, "VARIANT=%s: lesson %d has no such variant. It has:\n", clean, atoi(lesson));
    for (const Variant *v = grader_variants; v->name; v++)
        fprintf(stderr,
                "    %s-C-SIZE, where C is a number from %d to %d, and SIZE %d hexadecimal "
                "digits\n",
                v->name, v->least, v->largest, SHAPE_DIGITS);
    free(clean);
    return false;
}

bool variant_is_there(const char *lesson, const char *root)
{
    return !*variant_word() || variant() >= 0 || refuse(lesson, root, variant_word());
}

int variant_main(const char *lesson, const char *root, const char *digits)
{
    Word w;
    bool good = rows() && (are_digits(digits, DIGITS) || read_word(digits, &w));
    if (!good) return refuse(lesson, root, digits) ? 0 : 2;
    if (are_digits(digits, DIGITS)) w = draw(digits);
    char *word = write_word(w);
    printf("%s\nThe function %s. C is %d.\n", word, grader_variants[w.row].task, w.number);
    free(word);
    return 0;
}
