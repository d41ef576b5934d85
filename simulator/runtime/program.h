// Explains from an executable file why the program never connected.
#pragma once

// Prints how the program must be linked, if the file shows that it cannot load the device's runtime
// library.
void program_explain(const char *program);
