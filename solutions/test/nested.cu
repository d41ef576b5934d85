int before;
//> outer
int f(void)
{
    //> inner TODO: return the answer (1 line)
    //| return 0;
    //|
    //|     indented();
    return 42;
    //< inner
}
//> second
int g;
//< second
//< outer
int after;
