// Names of files, functions and variables as people read them.
#pragma once

// "vector_add.cu" of "src/add/vector_add.cu".
const char *names_base(const char *file);

// "saxpy" of "void saxpy<float>(int, float)": malloc'ed too.
char *names_plain(const char *signature);

// A C++ name as it was written, or the name itself: malloc'ed, the caller frees it.
char *names_demangle(const char *mangled);

// The same of a variable's, without what nvcc adds to the names of those that are one file's alone.
char *names_variable(const char *mangled);
