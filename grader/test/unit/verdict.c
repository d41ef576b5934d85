// The order of the verdicts, and which event leads to which.
#include "record.h"
#include "verdict.h"
#include <criterion/criterion.h>

Test(verdict, the_first_that_applies_decides)
{
    json_t *record = json_pack("{s[ooo]}", "facts", fact_new(VERDICT_WRONG, "w", NULL, NULL),
                               fact_new(VERDICT_RACE, "first race", NULL, NULL),
                               fact_new(VERDICT_RACE, "second race", NULL, NULL));
    const json_t *fact = record_deciding_fact(record);
    cr_assert_str_eq(json_string_value(json_object_get(fact, "says")), "first race");
    cr_assert_eq(record_verdict(record), VERDICT_RACE);
    cr_assert_eq(record_verdict(json_pack("{s[]}", "facts")), VERDICT_PASS);
}

Test(verdict, stands_in_the_designed_order)
{
    static const enum verdict order[] = { VERDICT_BUILD,   VERDICT_BOUNDS, VERDICT_RACE,
                                          VERDICT_TIMEOUT, VERDICT_CRASH,  VERDICT_PROTOCOL,
                                          VERDICT_MEMORY,  VERDICT_WRONG,  VERDICT_SUSPECT,
                                          VERDICT_SLOW,    VERDICT_PASS };
    for (size_t i = 1; i < sizeof order / sizeof *order; i++) cr_assert_lt(order[i - 1], order[i]);
    cr_assert_lt(VERDICT_GRADER_ERROR, VERDICT_BUILD);
    cr_assert_lt(VERDICT_NODEVICE, VERDICT_BUILD);
}

Test(verdict, todo_stands_for_a_student_s_failure_only)
{
    for (int v = 0; v < VERDICT_COUNT; v++) {
        bool replaced = v >= VERDICT_BOUNDS && v <= VERDICT_SLOW;
        cr_assert_eq(verdict_with_todo(v, true), replaced ? VERDICT_TODO : (enum verdict)v);
        cr_assert_eq(verdict_with_todo(v, false), (enum verdict)v);
    }
}

Test(verdict, unknown_words_are_never_a_pass)
{
    cr_assert_eq(verdict_from_word("PASSED"), VERDICT_GRADER_ERROR);
    cr_assert_eq(verdict_from_word(NULL), VERDICT_GRADER_ERROR);
    cr_assert_eq(kind_of(json_pack("{ss}", "kind", "gremlins")), KIND_UNKNOWN);
    cr_assert_eq(kind_of(json_pack("{ss}", "kind", "")), KIND_UNKNOWN);
    cr_assert_eq(kind_of(json_object()), KIND_UNKNOWN);
    cr_assert_eq(kind_of(NULL), KIND_UNKNOWN);
    cr_assert_eq(kind_of(json_pack("{ss}", "kind", "use-after-free")), KIND_USE_AFTER_FREE);
    cr_assert_eq(verdict_of_kind(KIND_UNKNOWN), VERDICT_GRADER_ERROR);
    cr_assert_eq(verdict_of_kind(KIND_USE_AFTER_FREE), VERDICT_BOUNDS);
    cr_assert_eq(verdict_of_kind(KIND_BARRIER), VERDICT_RACE);
    cr_assert_eq(verdict_of_kind(KIND_DEADLOCK), VERDICT_TIMEOUT);
}

Test(verdict, whatever_fails_says_what_to_do)
{
    for (int v = 0; v < VERDICT_PASS; v++)
        cr_expect(verdict_next(v) && *verdict_next(v), "%s", verdict_word(v));
}
