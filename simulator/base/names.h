// Readable names of files, functions and variables.
#pragma once
#include <stddef.h>

// "vector_add.cu" of "src/add/vector_add.cu".
const char *names_base(const char *file);

// "saxpy" of "void saxpy<float>(int, float)": malloc'ed too.
char *names_plain(const char *signature);

// The signature if it is no longer than `most` bytes; else without namespaces, and cut there:
// malloc'ed too.
char *names_brief(const char *signature, size_t most);

// A demangled C++ name, or the name itself. The caller frees it.
char *names_demangle(const char *mangled);

// The same for a variable, without nvcc's additions to the names of file-local ones.
char *names_variable(const char *mangled);
