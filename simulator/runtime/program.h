// Why a program never came to the device: read from its file.
#pragma once

// Says on stderr how the program must be linked, if its file shows that it cannot have found the
// device's library.
void program_explain(const char *program);
