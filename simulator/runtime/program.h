// Explains why a program never connected, from its executable file.
#pragma once

// Prints how the program must be linked, if its file shows that it cannot have found the device's
// library.
void program_explain(const char *program);
