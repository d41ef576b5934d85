// What a wrong answer looks like, in words: patterns that point at the mistake.
#pragma once
#include "grader.h"

// A sentence about the mismatch, or NULL where no pattern is seen. The caller frees it.
char *pattern_words(const Mismatch *m);

// Is nothing wrong but what was never written? (Of bytes an element alone cannot tell.)
bool pattern_is_silence(const Mismatch *m);
