// Which cause is told of several, by kinds and verdicts alone: all words here are "x".
#include "diagnosis.h"
#include <criterion/criterion.h>

static json_t *fact(const char *verdict, const char *kind, bool explained)
{
    json_t *f = json_pack("{ss ss ss}", "verdict", verdict, "says", "x", "function", "f");
    if (kind) json_object_set_new(f, "kind", json_string(kind));
    if (explained) json_object_set_new(f, "why", json_string("x"));
    json_object_set_new(f, "next", json_string("x"));
    return f;
}

// A check with so many facts.
static json_t *check_with(json_t *first, json_t *second)
{
    json_t *record = json_pack("{ss s[] s[]}", "output", "", "facts", "notes");
    if (first) json_array_append_new(json_object_get(record, "facts"), first);
    if (second) json_array_append_new(json_object_get(record, "facts"), second);
    return record;
}

static Result judged(json_t *first, json_t *second)
{
    Result r = { .records = json_pack("[oo]", first, second) };
    result_judge(&r, &(Profile){ 0 });
    return r;
}

Test(diagnosis, the_gravest_verdict_decides_and_the_first_check_of_it)
{
    json_t *wrong = check_with(fact("WRONG", NULL, false), NULL);
    json_t *race = check_with(fact("WRONG", NULL, false), fact("RACE", "race", false));
    cr_assert_eq(diagnose_record(json_pack("[OOO]", wrong, race, race)), race);
    cr_assert_eq(diagnose_record(json_pack("[OO]", wrong, check_with(NULL, NULL))), wrong);
    cr_assert_null(diagnose_record(json_pack("[o]", check_with(NULL, NULL))));
}

Test(diagnosis, a_check_that_did_not_begin_gives_way)
{
    json_t *skipped = fact("TIMEOUT", NULL, false);
    json_object_set_new(skipped, "skipped", json_true());
    json_t *late = check_with(fact("TIMEOUT", NULL, false), NULL);
    cr_assert_eq(diagnose_record(json_pack("[oO]", check_with(skipped, NULL), late)), late);
}

// Of what a program that was ended has not freed nothing is said.
Test(diagnosis, a_leak_follows_from_a_graver_cause)
{
    Result r = judged(check_with(fact("BOUNDS", "bounds", true), fact("MEMORY", "leak", true)),
                      check_with(NULL, NULL));
    cr_expect_null(diagnose_result(&r).also);
    r = judged(check_with(fact("BOUNDS", "bounds", true), fact("MEMORY", "uninitialized", true)),
               check_with(NULL, NULL));
    cr_expect_eq(kind_of(diagnose_result(&r).also), KIND_UNINITIALIZED);
}

Test(diagnosis, a_wrong_answer_elsewhere_tells_more_than_a_timeout)
{
    json_t *wrong = fact("WRONG", NULL, true);
    Result r = judged(check_with(fact("TIMEOUT", "timeout", true), NULL), check_with(wrong, NULL));
    Diagnosis d = diagnose_result(&r);
    cr_expect_eq(d.also, wrong);
    cr_expect(d.also_explains);
    json_object_set_new(wrong, "function", json_string("another"));
    cr_expect_null(diagnose_result(&r).also);
}

// Memory that no kernel is known to have used tells less than a wrong answer; but an error that was
// left unseen tells why nothing wrote it.
Test(diagnosis, unwritten_memory_is_explained_by_what_was_left_unseen)
{
    json_t *unwritten = fact("MEMORY", "uninitialized", true), *wrong = fact("WRONG", NULL, true);
    Result r = judged(check_with(unwritten, NULL), check_with(wrong, NULL));
    cr_expect_eq(diagnose_result(&r).also, wrong);
    json_object_set_new(unwritten, "kernel", json_string("x"));
    cr_expect_null(diagnose_result(&r).also);

    json_t *unseen = fact("WRONG", "unseen", true);
    json_object_set_new(unseen, "next", json_string("y"));
    r = judged(check_with(fact("MEMORY", "uninitialized", true), unseen), check_with(wrong, NULL));
    Diagnosis d = diagnose_result(&r);
    cr_expect_eq(d.also, unseen);
    cr_expect_str_eq(d.next, "y");
}

Test(diagnosis, a_call_that_failed_is_told_first_but_of_bounds)
{
    json_t *note = fact("PASS", "api", true);
    json_object_set_new(note, "next", json_string("y"));
    json_t *record = check_with(fact("WRONG", NULL, true), NULL);
    json_array_append_new(json_object_get(record, "notes"), note);
    Result r = judged(record, check_with(NULL, NULL));
    cr_expect_eq(diagnose_result(&r).note, note);
    cr_expect_str_eq(diagnose_result(&r).next, "y");
    r.behind = VERDICT_BOUNDS;
    cr_expect_null(diagnose_result(&r).note);
    cr_expect_str_eq(diagnose_result(&r).next, "x");
}
