// Results are written whole or not at all.
#include "file.h"
#include "record.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/warpwise-record-XXXXXX";
static void enter(void) { cr_assert(mkdtemp(folder) && chdir(folder) == 0); }
static void leave(void) { cr_assert(system("rm -rf \"$PWD\"") == 0); }

Test(record, is_replaced_in_one_step, .init = enter, .fini = leave)
{
    json_t *first = json_pack("{si}", "figure", 1), *second = json_pack("{si}", "figure", 2);
    struct stat before, after;
    cr_assert(json_write("r.json", first));
    stat("r.json", &before);
    cr_assert(json_write("r.json", second));
    stat("r.json", &after);
    cr_assert_neq(before.st_ino, after.st_ino, "the old file was written into");
    cr_assert(json_equal(json_load_file("r.json", 0, NULL), second));
    cr_assert_eq(system("[ $(ls | wc -l) = 1 ]"), 0);
}

Test(record, leaves_the_old_one_when_it_fails, .init = enter, .fini = leave)
{
    cr_assert(mkdir("r.json", 0700) == 0); // a rename onto a folder fails
    cr_assert_not(json_write("r.json", json_object()));
    cr_assert_eq(system("[ $(ls | wc -l) = 1 ]"), 0, "a temporary file is left");
    cr_assert_not(json_write("missing/r.json", json_object()));
}

Test(record, facts_hold_clean_words)
{
    json_t *fact = fact_new(VERDICT_WRONG, "\033[2J\xff", NULL, "next");
    cr_assert_str_eq(json_string_value(json_object_get(fact, "says")), "?[2J?");
    cr_assert_null(json_object_get(fact, "why"));
}
