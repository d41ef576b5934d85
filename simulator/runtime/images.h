// Which images of modules bring something to the device: for the owner, who is told of their bytes.
// An image that is in the program's file, as the compiler has made it, says nothing of a call, and
// neither does one that has been told.
#pragma once
#include "base/base.h"

// The files among the words of the command that is about to begin the program. Its end is NULL.
void images_of_command(char *const *words);

// Does an image bring something? From now on it is told.
bool images_bring(const u8 *image, u64 bytes);
