int a;
//> late BUG:
//| if (i <= n)
if (i < n)
//< late
    b();
{
    //> missing BUG:
    wait();
    //< missing
}
