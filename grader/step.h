// What a verdict says of the lesson's ladder: words that the caller frees.
#pragma once
#include "result.h"

// What the step that is reached has done, and the predicted time of a call of each check that the
// steps have: beside what its author said, that of the run before, and the least that any right
// answer takes. r->ladder must be there.
char *step_words(const Result *r);

// What to do about the first finding, or without one; `file` is its file as it is shown, or NULL.
// What a step needs has its section in the text; who has stayed below it for two runs is told in a
// line.
char *step_next(const Result *r, const Finding *first, const char *file);

// Of a ladder of mistakes: how many are mended, which ones if there are others, and what that is
// worth.
char *step_mended(const Result *r);
