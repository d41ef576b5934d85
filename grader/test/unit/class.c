// The marks of a class: what being late costs, which submission counts, and how times are read.
#include "class/class.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DAY = 24 * 60 * 60, DEADLINE = 1000000 };

Test(late, days_begin_with_the_first_second)
{
    cr_expect_eq(late_days(DEADLINE - 1, DEADLINE), 0);
    cr_expect_eq(late_days(DEADLINE, DEADLINE), 0);
    cr_expect_eq(late_days(DEADLINE + 1, DEADLINE), 1);
    cr_expect_eq(late_days(DEADLINE + DAY, DEADLINE), 1);
    cr_expect_eq(late_days(DEADLINE + DAY + 1, DEADLINE), 2);
    cr_expect_eq(late_days(NO_TIME, DEADLINE), 0);
    cr_expect_eq(late_days(DEADLINE, NO_TIME), 0);
}

// What 10 points are worth `days` late, with `left` days, and that it takes `takes` of them.
static void is_worth(const LateRules *l, int days, int left, double worth, int takes)
{
    int spent;
    double is = late_worth(l, 10, days, left, &spent);
    cr_expect_float_eq(is, worth, 1e-9, "%d days late with %d left: %g, not %g", days, left, is,
                       worth);
    cr_expect_eq(spent, takes, "%d days late with %d left: takes %d, not %d", days, left, spent,
                 takes);
}

Test(late, the_budget_is_spent_before_points)
{
    LateRules l = { .penalty = 20, .most = 6 };
    is_worth(&l, 0, 3, 10, 0);
    is_worth(&l, 2, 3, 10, 2);
    is_worth(&l, 3, 3, 10, 3);
    is_worth(&l, 4, 3, 8, 3);
    is_worth(&l, 4, 0, 2, 0);
    is_worth(&l, 5, 0, 0, 0);
    is_worth(&l, 6, 1, 0, 0); // worth nothing, so it takes nothing
    is_worth(&l, 6, 6, 10, 6);
    is_worth(&l, 7, 9, 0, 0); // beyond the last day
}

Test(late, without_rules_it_costs_nothing)
{
    LateRules none = { 0 };
    is_worth(&none, 400, 0, 10, 0);
    int spent;
    cr_expect_eq(late_worth(&(LateRules){ .penalty = 20 }, 0, 2, 5, &spent), 0);
    cr_expect_eq(spent, 0, "what has no points spends days");
}

Test(late, best_is_what_is_worth_most)
{
    LateRules l = { .penalty = 20 };
    Attempt points[] = { { 5, 0 }, { 10, 3 }, { 9, 1 } };
    cr_expect_eq(late_choose(&l, points, 3, 3, false), 1);
    cr_expect_eq(late_choose(&l, points, 3, 1, false), 2); // 10 would be worth 6
    cr_expect_eq(late_choose(&l, points, 3, 0, false), 2);
    cr_expect_eq(late_choose(&l, points, 3, 0, true), 2);
    cr_expect_eq(late_choose(&l, points, 2, 0, true), 1);
}

Test(late, of_equals_the_one_that_takes_fewest_days_then_the_first)
{
    LateRules l = { .penalty = 20 };
    Attempt later[] = { { 10, 2 }, { 10, 1 }, { 10, 1 } };
    cr_expect_eq(late_choose(&l, later, 3, 5, false), 1);
    Attempt same[] = { { 10, 0 }, { 10, 0 } };
    cr_expect_eq(late_choose(&l, same, 2, 0, false), 0);
}

Test(late, an_extension_moves_the_deadline)
{
    LessonRule l = { .lesson = "05-transpose", .deadline = DEADLINE };
    Extension all[] = { { NULL, 2 }, { "05-transpose", 3 }, { "08-reduction", 100 } };
    StudentRule s = { .extension = all, .extensions = 3 };
    cr_expect_eq(rules_deadline(&l, NULL), DEADLINE);
    cr_expect_eq(rules_deadline(&l, &s), DEADLINE + 5 * DAY);
    l.deadline = NO_TIME;
    cr_expect_eq(rules_deadline(&l, &s), NO_TIME);
}

// written: in the zone that it names.
static void is_time(const char *words, time_t is, const char *written)
{
    time_t time = 0;
    long east = 1;
    char again[TIME_BYTES];
    cr_expect(time_read(words, &time, &east), "%s is no time", words);
    cr_expect_eq(time, is, "%s is %lld", words, (long long)time);
    time_write(time, east, again);
    cr_expect_str_eq(again, written, "%s is written %s", words, again);
}

Test(time, is_as_iso_8601_writes_it)
{
    is_time("1970-01-12T13:46:40Z", 1000000, "1970-01-12 13:46 UTC");
    is_time("1970-01-12 13:46:40Z", 1000000, "1970-01-12 13:46 UTC");
    is_time("1970-01-12T15:46:40+02:00", 1000000, "1970-01-12 15:46 UTC+02:00");
    is_time("1970-01-12T06:16:40.123456-0730", 1000000, "1970-01-12 06:16 UTC-07:30");
    is_time("1970-01-12 14:46:40.9 +01", 1000000, "1970-01-12 14:46 UTC+01:00");
    is_time("1970-01-12T13:46Z", 999960, "1970-01-12 13:46 UTC");
    is_time("2028-02-29T00:00:00Z", 1835395200, "2028-02-29 00:00 UTC");
    is_time("2027-12-31T23:45-00:30", 1830298500, "2027-12-31 23:45 UTC-00:30");
}

Test(time, needs_a_zone_and_a_day_that_is_there)
{
    static const char *const none[] = { "",
                                        "2026-10-05",
                                        "2026-10-05T23:59:00",
                                        "2026-02-29T00:00Z",
                                        "2026-10-05T24:00Z",
                                        "2026-10-05T23:59:00+2",
                                        "2026-10-05T23:59:00+02:",
                                        "2026-10-05T23:59:00+02:00x",
                                        "2026-10-05T23:59:00.Z",
                                        "05.10.2026 23:59 Z",
                                        "2026-10-05T23:59:00 CEST" };
    for (size_t n = 0; n < sizeof none / sizeof *none; n++) {
        time_t time;
        long east;
        cr_expect_not(time_read(none[n], &time, &east), "%s is a time", none[n]);
    }
}

// A file with these bytes, read as a table that needs the column `student`.
static bool reads(Table *t, const char *bytes)
{
    char path[] = "/tmp/table-XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
    close(file);
    bool good = table_read(t, path, (const char *const[]){ "student", NULL });
    unlink(path);
    return good;
}

Test(table, is_as_rfc_4180_writes_it)
{
    Table t;
    cr_assert(reads(&t, "\xef\xbb\xbfid,student\r\n1,\"Lovelace, Ada\"\r\n\r\n2,\"a \"\"b\"\" c\"\n"
                        "3,\"two\nlines\"\n4,Zoë"));
    cr_assert_eq(t.rows, 4);
    cr_expect_str_eq(table_cell(&t, 0, "student"), "Lovelace, Ada");
    cr_expect_str_eq(table_cell(&t, 1, "student"), "a \"b\" c");
    cr_expect_str_eq(table_cell(&t, 2, "student"), "two\nlines");
    cr_expect_str_eq(table_cell(&t, 3, "student"), "Zoë");
    cr_expect_str_eq(table_cell(&t, 3, "email"), "");
    cr_expect_eq(t.line[1], 4);
    cr_expect_eq(t.line[3], 7);
}

Test(table, refuses_what_is_written_otherwise)
{
    static const char *const others[] = { "",
                                          "name\nAda\n",
                                          "student,x\nAda\n",
                                          "student\nA,B\n",
                                          "student\n\"A",
                                          "student\nA\"B\"\n",
                                          "student\n\"A\"B\n",
                                          "student,student\nA,B\n",
                                          "student\nZo\xeb\n" };
    for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
        Table t;
        cr_expect_not(reads(&t, others[n]), "%zu is a table", n);
    }
}

static void is_cell(const char *words, const char *text)
{
    char *written = NULL;
    size_t count;
    FILE *f = open_memstream(&written, &count);
    table_write(f, words, ',');
    fclose(f);
    cr_expect_str_eq(written, text);
    free(written);
}

Test(table, has_no_cell_that_acts_on_a_spreadsheet_or_a_terminal)
{
    is_cell("Ada", "Ada,");
    is_cell("", ",");
    is_cell("Lovelace, Ada", "\"Lovelace, Ada\",");
    is_cell("a \"b\"", "\"a \"\"b\"\"\",");
    is_cell("=1+1", "\"'=1+1\",");
    is_cell("\t@SUM(1)", "\"' @SUM(1)\",");
    is_cell("-rf", "\"'-rf\",");
    is_cell("a\033[31m\nb", "a?[31m b,");
    is_cell("Zo\xeb", "Zo?,");
}

static void is_written(double number, const char *text)
{
    char *words = NULL;
    size_t count;
    FILE *f = open_memstream(&words, &count);
    table_write_number(f, number, ',');
    fclose(f);
    cr_expect_str_eq(words, text);
    free(words);
}

Test(table, writes_numbers_as_short_as_they_are)
{
    is_written(10, "10,");
    is_written(0, "0,");
    is_written(8.1, "8.1,");
    is_written(20.0 / 3, "6.67,");
    is_written(100, "100,");
    is_written(NAN, ",");
}

// Is a result, with that hash and variant (NULL: none), of the file "abc" in that variant?
static bool is_of(const char *variant, const char *hash, const char *of)
{
    const Submission s = { .hash = "abc", .variant = variant };
    json_t *result = json_pack("{s{ss*} ss*}", "class", "hash", hash, "variant", of);
    bool is = class_is_of(&s, result);
    json_decref(result);
    return is;
}

Test(variant, a_result_is_of_a_file_in_a_variant)
{
    cr_expect(is_of(NULL, "abc", NULL));
    cr_expect(is_of("squares-7-0001", "abc", "squares-7-0001"));
    cr_expect_not(is_of(NULL, "abd", NULL));
    cr_expect_not(is_of(NULL, NULL, NULL), "no hash is no file's");
    cr_expect_not(is_of("squares-7-0001", "abd", "squares-7-0001"));
    cr_expect_not(is_of("squares-7-0001", "abc", "squares-7-0002"));
    cr_expect_not(is_of("squares-7-0001", "abc", NULL));
    cr_expect_not(is_of(NULL, "abc", "squares-7-0001"));
    cr_expect_not(class_is_of(&(Submission){ .hash = "" }, NULL));
}
