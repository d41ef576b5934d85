//> first
//| int x;
//< first
