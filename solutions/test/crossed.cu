//> first
//> second
int x;
//< first
//< second
