// A variant: a lesson as one class has it, with another operator and other sizes (make variant).
// Its word is "squares-7-3f2a": a row of the lesson's table (grader/variants/NN-name/rows.def), the
// row's number C, and four digits from which the sizes of the checks are drawn. The word says all
// of the variant, and comes from the class's secret by HMAC: it says nothing of the secret.
#pragma once
#include <stdbool.h>

// The word of the environment's VARIANT; "": the lesson itself is graded.
const char *variant_word(void);

// "lesson 8", or "lesson 8 (squares-7-3f2a)"; the caller frees it.
char *variant_title(int number);

// Is VARIANT unset, or a variant of this lesson? False: it has said, on standard error, what there
// is.
bool variant_is_there(const char *lesson, const char *root);

// NN-name --variant DIGITS: prints the word that 16 hexadecimal digits stand for, and on a second
// line the sentence that tells the task. NN-name --variant WORD does so for that word. Returns the
// exit status: 0, or 2 where there is no such variant.
int variant_main(const char *lesson, const char *root, const char *digits);
