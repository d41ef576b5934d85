//> first TODO: write it
//> second
int x;
//< second
//< first
