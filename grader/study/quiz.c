// The quiz of a chapter: asks, takes letters, explains, counts. The answers may come from a pipe;
// where there are none, it prints the questions only.
#define _GNU_SOURCE
#include "study.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUESTIONS_MAX = 32, OPTIONS_MAX = 8 };

typedef struct Question {
    char *words, *option[OPTIONS_MAX], *why;
    unsigned right; // a bit for each option
    int options;
} Question;

// ---- Reading: "1. words", "    - [x] option", "    > explanation", each with lines that go on

// Adds a line to a text that grows.
static void append(char **text, const char *line, size_t n)
{
    char *longer = text_format("%s%.*s\n", *text ? *text : "", (int)n, line);
    free(*text);
    *text = longer;
}

static bool starts_question(const char *line)
{
    size_t digits = strspn(line, "0123456789");
    return digits && line[digits] == '.' && line[digits + 1] == ' ';
}

static bool starts_option(const char *words)
{
    return strncmp(words, "- [ ] ", 6) == 0 || strncmp(words, "- [x] ", 6) == 0;
}

// Where the next lines belong, if they begin nothing themselves.
static char **take_line(Question *q, char **open, const char *line, size_t n)
{
    size_t spaces = strspn(line, " ");
    const char *words = line + (spaces < n ? spaces : n);
    size_t left = n - (size_t)(words - line);
    if (starts_option(words) && q->options < OPTIONS_MAX) {
        open = &q->option[q->options];
        q->right |= (unsigned)(words[3] == 'x') << q->options++;
        append(open, words + 6, left - 6);
    } else if (*words == '>' && q->options) {
        open = &q->why;
        words += 1 + (left > 1 && words[1] == ' ');
        append(open, words, n - (size_t)(words - line));
    } else { // what is code keeps its own indent
        size_t strip = spaces < 4 ? spaces : 4;
        append(open, line + strip, n - strip);
    }
    return open;
}

static int read_questions(const char *section, Question *list)
{
    int count = 0;
    char **open = NULL;
    for (const char *line = section; *line;) {
        size_t n = strcspn(line, "\n");
        if (starts_question(line) && count < QUESTIONS_MAX) {
            const char *words = strchr(line, ' ') + 1;
            open = &list[count++].words;
            append(open, words, n - (size_t)(words - line));
        } else if (count) {
            open = take_line(&list[count - 1], open, line, n);
        }
        line += n + (line[n] == '\n');
    }
    return count;
}

static void free_questions(Question *list, int count)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < list[i].options; k++) free(list[i].option[k]);
        free(list[i].words);
        free(list[i].why);
    }
}

// ---- Asking

static void print_question(const Question *q, int number)
{
    char lead[16];
    snprintf(lead, sizeof lead, "%d. ", number);
    fputc('\n', stdout);
    page_print(stdout, 3, lead, q->words);
    fputc('\n', stdout);
    for (int k = 0; k < q->options; k++) {
        snprintf(lead, sizeof lead, "   %c) ", 'a' + k);
        page_print(stdout, 6, lead, q->option[k]);
    }
}

// The options that the letters name: "b", "ac"; 0: they name none, or something else stands there.
static unsigned letters(const char *answer, int options)
{
    unsigned set = 0;
    for (; *answer; answer++) {
        int k = (*answer | 0x20) - 'a';
        if (k < 0 || k >= options) return 0;
        set |= 1u << k;
    }
    return set;
}

// The next word of the input, which on a terminal is asked for; NULL: no more, or q.
static const char *next_answer(bool terminal)
{
    static char word[32];
    if (terminal) {
        fputs("  > ", stdout);
        fflush(stdout);
    }
    if (scanf("%31s", word) != 1) {
        if (terminal) fputc('\n', stdout);
        return NULL;
    }
    if (!terminal) printf("  > %s\n", word);
    return strcmp(word, "q") == 0 ? NULL : word;
}

static void print_judgement(const Question *q, bool right)
{
    char names[2 * OPTIONS_MAX + 1] = "";
    for (int k = 0; k < q->options; k++)
        if (q->right >> k & 1) sprintf(names + strlen(names), " %c", 'a' + k);
    char *words = right ? strdup("Right.") : text_format("No:%s.", names);
    text_paragraph(stdout, 2, words);
    if (q->why) page_print(stdout, 2, "", q->why);
    free(words);
}

// 1: right; 0: wrong; -1: no answer came.
static int ask(const Question *q, bool terminal)
{
    for (;;) {
        const char *answer = next_answer(terminal);
        unsigned set = answer ? letters(answer, q->options) : 0;
        if (!answer) return -1;
        if (set) {
            print_judgement(q, set == q->right);
            return set == q->right;
        }
        say(2, "A letter from a to %c, several as in \"ac\", or q to stop.", 'a' + q->options - 1);
    }
}

static void print_count(const Lesson *lesson, int right, int asked, int count)
{
    fputc('\n', stdout);
    if (asked == count)
        say_state(right == count ? WELL : TELLS, "QUIZ", "lesson %d: %d of %d right",
                  lesson->number, right, count);
    else
        say_state(TELLS, "QUIZ", "lesson %d: %d of %d right; %d left", lesson->number, right, asked,
                  count - asked);
}

static void ask_all(const Lesson *lesson, const Question *list, int count, bool terminal)
{
    int right = 0, asked = 0;
    for (; asked < count; asked++) {
        print_question(&list[asked], asked + 1);
        int judged = ask(&list[asked], terminal);
        if (judged < 0) break;
        right += judged;
    }
    print_count(lesson, right, asked, count);
}

static void print_all(const Lesson *lesson, const Question *list, int count)
{
    for (int i = 0; i < count; i++) print_question(&list[i], i + 1);
    fputc('\n', stdout);
    say(2,
        "To answer: make quiz-%d in a terminal, or the letters in a pipe: "
        "echo b b c | make quiz-%d",
        lesson->number, lesson->number);
}

// Is there anything to read? On a terminal there will be.
static bool has_answers(bool terminal)
{
    if (terminal) return true;
    int c = getchar();
    if (c == EOF) return false;
    ungetc(c, stdin);
    return true;
}

int quiz(const Lesson *lesson)
{
    char *title = NULL, *section = lesson_section(lesson, "## Quiz", &title);
    Question list[QUESTIONS_MAX] = { 0 };
    int count = section ? read_questions(section, list) : 0;
    bool terminal = isatty(STDIN_FILENO);
    if (count) {
        bool answers = has_answers(terminal);
        say_state(TELLS, "QUIZ", "lesson %d: %d questions%s", lesson->number, count,
                  answers ? ". Answer with a letter; q stops" : "");
        if (answers) ask_all(lesson, list, count, terminal);
        else print_all(lesson, list, count);
    } else {
        printf("lessons/%s.md has no quiz. Type: make check\n", lesson->name);
    }
    free_questions(list, count);
    free(section);
    free(title);
    return count ? 0 : 1;
}
