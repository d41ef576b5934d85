//> first TODO: write it
//> second TODO:
int x;
//< second
//< first
