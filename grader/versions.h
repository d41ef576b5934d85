// The grader's uses that run nothing, and exit with 0 if all is well:
//
//     NN-name --hold RESULT.json...          holds versions 1, 2, ... of the solution, of which
//     these
//                                            are the results, to the profile's claims (claims.h)
//     NN-name --hold gpu SUMMARY.json COUNT  holds the COUNT versions of the solution to the
//                                            profile's targets, by what was recorded (summary.h)
//     NN-name --summary SUMMARY.json RESULT.json...
//                                            records these results of versions 1, 2, ..., which
//                                            come from a GPU; what is recorded of others stays
//
// A file that is not there says nothing.
#pragma once
#include <stdbool.h>

bool versions_use(const char *word);                          // one of them begins with this word
int versions_main(const char *lesson, int argc, char **argv); // argv[0] is that word
