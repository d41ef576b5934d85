//>
int x;
//<
