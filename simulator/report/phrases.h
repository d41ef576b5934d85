// Phrases of causes.def: words that depend on the report's facts, with {names} in them again.
#pragma once
#include "report.h"

// The function that chooses the phrase of that name; NULL: there is no such phrase. What it returns
// is NULL if there is nothing to say.
const char *(*phrase_find(const char *name))(const Report *);
