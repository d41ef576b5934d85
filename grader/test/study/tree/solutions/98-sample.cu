//> idea TODO: store it (1 line).
int stored;
//< idea
