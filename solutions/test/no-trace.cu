int a;

//> gone TODO:
int b;
//< gone

int c;
