int x;
//< first
