// What a wrong answer looks like, in words: patterns that point at the mistake.
#pragma once
#include "grader.h"

// A sentence about the mismatch, or NULL where no pattern is seen. The caller frees it.
char *pattern_words(const Mismatch *m);
