// expect: exit 3
// build: none
// stderr: it is not linked
int main(void)
{
    return 3;
}
