//> first
int x;
//<
