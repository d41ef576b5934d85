//> first TODo write it
int x;
//< first
