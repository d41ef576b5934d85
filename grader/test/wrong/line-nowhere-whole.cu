// expect: WRONG
// at: int y
int x;
