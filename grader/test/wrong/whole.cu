// expect: BOUNDS
// at: int x
// A whole file.
int x = 1;
