//> first
//> second TODO: write it
int x;
//< second
