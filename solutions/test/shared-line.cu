int x; //> first
//< first
