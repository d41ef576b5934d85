//> first TODO: write it
int a;
//> second
int x;
//< second
int b;
//< first
//> third TODO:
//> fourth
int y;
//< fourth
//< third
int c;
