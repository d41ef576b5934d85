// Canaries: submissions whose verdict is known, graded in the same way as the class. Of each lesson
// they are its solution, and wrong submissions of grader/wrong, whose first line states the
// verdict.
#pragma once
#include "class.h"

enum { CANARIES_WRONG = 3 };

// Grades the canaries of every lesson in `of`, anew, and tells of each whose verdict is another
// one. True: there is none, and none is missing. They are in GRADES/canaries.
bool canaries_are_well(const Class *of);
