// Replay tokens: what they hold, and that a typing mistake is found.
#define _GNU_SOURCE
#include "token.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *made(const char *gpu)
{
    json_t *result =
        json_pack("{si ss ss s{si} s{ss ss ss ss}}", "number", 8, "device", "h100", "verdict",
                  "SLOW", "score", "speed", 7, "class", "hash",
                  "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "version",
                  "0.1.0", "toolkit", "13.0.88", "seed", "9f86d081884c7d65");
    if (gpu) json_object_set_new(result, "gpu", json_pack("{ss}", "device", gpu));
    char *token = token_of(result);
    json_decref(result);
    return token;
}

Test(token, holds_what_replaying_takes)
{
    Token t;
    const char *why;
    cr_assert(token_read(&t, made(NULL), &why));
    cr_assert(t.lesson == 8 && t.points == 7);
    cr_assert_str_eq(t.seed, "9f86d081884c7d65");
    cr_assert_str_eq(t.hash, "2c26b46b68ff");
    cr_assert_str_eq(t.device, "h100");
    cr_assert_str_eq(t.gpu, "");
    cr_assert_str_eq(t.version, "0.1.0");
    cr_assert_str_eq(t.toolkit, "13.0.88");
    cr_assert_str_eq(t.verdict, "SLOW");
}

Test(token, names_the_gpu)
{
    Token t;
    const char *why;
    cr_assert(token_read(&t, made("NVIDIA H200: a/b"), &why));
    cr_assert_str_eq(t.device, "h100");
    cr_assert_str_eq(t.gpu, "NVIDIA_H200__a_b");
}

Test(token, spaces_around_it_are_no_mistake)
{
    Token t;
    const char *why;
    char text[256] = " ";
    strcat(strcat(text, made(NULL)), "\r\n");
    cr_assert(token_read(&t, text, &why));
}

Test(token, a_typing_mistake_is_found)
{
    Token t;
    const char *why, *good = made(NULL);
    size_t count = strlen(good);
    for (size_t n = 0; n < count; n++) {
        char other[256];
        strcpy(other, good);
        for (const char *c = "0a:S./ "; *c; c++) { // another character
            other[n] = *c;
            cr_assert(*c == good[n] || !token_read(&t, other, &why), "%s", other);
        }
        strcpy(other + n, good + n + 1); // one that is missing
        cr_assert(!token_read(&t, other, &why), "%s", other);
        strcpy(other + n, good + n); // two in the other order
        if (n + 1 == count || good[n] == good[n + 1]) continue;
        other[n] = good[n + 1];
        other[n + 1] = good[n];
        cr_assert(!token_read(&t, other, &why), "%s", other);
    }
}

Test(token, there_is_none_without_a_grading)
{
    json_t *result = json_pack("{ss s{}}", "verdict", "GRADER-ERROR", "class");
    cr_assert_null(token_of(result));
    json_decref(result);
}
