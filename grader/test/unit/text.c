// Words for a terminal: what is taken out of them, and where their lines break.
#include "text.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void cleans(const char *text, const char *to)
{
    char *clean = text_clean(text);
    cr_expect_str_eq(clean, to);
    free(clean);
}

Test(text, loses_what_acts_on_a_terminal)
{
    cleans("plain", "plain");
    cleans("a\033[31mb", "a?[31mb");
    cleans("a\nb\tc\rd\a", "a b c?d?");
    cleans("\x7f\xc2\x9b", "??"); // DEL, and CSI as one character
    cleans("\xe2\x80\xae"
           "evil\xe2\x80\x8b",
           "?evil?"); // right-to-left override, zero width
}

Test(text, keeps_utf_8_and_loses_what_is_none)
{
    cleans("z\xc3\xa9ro \xe2\x89\xa4 1", "z\xc3\xa9ro \xe2\x89\xa4 1");
    cleans("\xff\xfe", "??");
    cleans("\xc3", "?");           // cut off
    cleans("\xc0\xaf", "??");      // overlong
    cleans("\xed\xa0\x80", "???"); // a surrogate
}

Test(text, has_an_end)
{
    char *flood = malloc(100001);
    memset(flood, 'x', 100000);
    flood[100000] = 0;
    char *clean = text_clean(flood);
    cr_assert_eq(strlen(clean), TEXT_LIMIT + 3);
    cr_assert_str_eq(clean + TEXT_LIMIT, "...");
}

static char *flowed(int column, int indent, const char *text)
{
    char *out;
    size_t bytes;
    FILE *f = open_memstream(&out, &bytes);
    text_flow(f, column, indent, text);
    fclose(f);
    return out;
}

Test(text, breaks_within_the_columns)
{
    const char *words = "Only the last elements are wrong, from 768 on: what a last, partial block "
                        "of 256 would do, and \xc3\xa9\xc3\xa9\xc3\xa9 is three columns wide.";
    for (int indent = 0; indent < 20; indent++) {
        char *out = flowed(indent, indent, words);
        for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n"))
            cr_expect_leq(text_columns(line), (size_t)TEXT_COLUMNS);
        free(out);
    }
}

Test(text, fills_a_line_to_the_last_column)
{
    char *out = flowed(0, 2,
                       "123456789 123456789 123456789 123456789 123456789 123456789 "
                       "123456789 12 next");
    cr_assert_str_eq(out, "123456789 123456789 123456789 123456789 123456789 123456789 "
                          "123456789 12\n  next\n");
}

static void expect_width(const char *columns, int width)
{
    setenv("COLUMNS", columns, 1);
    cr_expect_eq(text_width(), width, "COLUMNS=%s", columns);
    unsetenv("COLUMNS");
}

Test(text, is_as_wide_as_the_terminal_within_reason)
{
    expect_width("60", 60);
    expect_width("72", 72);
    expect_width("200", 72);
    expect_width("5", 40);
    expect_width("", 72);
    expect_width("nonsense", 72);
}

Test(text, leaves_a_long_word_whole)
{
    char word[101];
    memset(word, 'x', 100);
    word[100] = 0;
    char *out = flowed(2, 2, word);
    cr_assert_eq(strlen(out), 101);
}

Test(text, colours_by_the_rules)
{
    unsetenv("NO_COLOR");
    unsetenv("MAKE_TERMOUT");
    setenv("TERM", "xterm", 1);
    FILE *file = tmpfile();
    cr_expect_not(text_colours(file));
    setenv("MAKE_TERMOUT", "/dev/pts/0", 1);
    cr_expect(text_colours(file));
    setenv("TERM", "dumb", 1);
    cr_expect_not(text_colours(file));
    setenv("CLICOLOR_FORCE", "1", 1);
    cr_expect(text_colours(file));
    setenv("NO_COLOR", "1", 1);
    cr_expect_not(text_colours(file));
}
