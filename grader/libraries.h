// Libraries that a lesson does without, as it is to write what they do.
#pragma once
#include "claims.h"

// Reads the list of files that a submission was compiled from, in the form of gcc's -MD, and looks
// for those of the libraries that the profile names: a folder of that name (cub/, thrust/) on their
// path below the project and the toolkit. NULL: there are none. Else the fact that refuses the
// submission (record.h), with its line that includes the library, if one does; or a GRADER_ERROR,
// if the list cannot be read.
json_t *libraries_refusal(const char *list, const Profile *profile, const char *submission);
