// For the checks of lessons 8 and 9: what an element counts as, and what becomes of two of them. In
// the lesson itself these are the element, and the sum. TASK(what) is said before: what the
// function does, where `what` is that of a row.
#include "grader.h"

const Variant grader_variants[] = {
#define VARIANT(name, least, largest, what, ...) { #name, least, largest, TASK(what) },
#include "08-reduction/rows.def"
    { 0 }
};

#define VARIANT(name, least, largest, what, element, two)                                          \
    static double own_##name(double x, double C) { return element; }                               \
    static double both_##name(double a, double b) { return two; }
#include "08-reduction/rows.def"

static double own(double x)
{
    static double (*const rows[])(double x, double C) = {
#define VARIANT(name, ...) own_##name,
#include "08-reduction/rows.def"
    };
    return variant() < 0 ? x : rows[variant()](x, variant_number());
}

static double both(double a, double b)
{
    static double (*const rows[])(double a, double b) = {
#define VARIANT(name, ...) both_##name,
#include "08-reduction/rows.def"
    };
    return variant() < 0 ? a + b : rows[variant()](a, b);
}

// An element that is there twice changes the answer.
static bool adds(void) { return both(1, 1) != 1; }

// A fraction from (-1, 1) becomes one above 0; in a variant one on either side of C.
static float fraction(float x) { return variant() < 0 ? (x + 1) / 2 : (float)variant_number() + x; }
