//> first
int x;
//< first
//> first
int y;
//< first
