// expect: exit 0
// prints: [-0042] [   42] [%.*d] [%zu] [%Lf]|[(null)] [  words] [%.*s]|a pointer for no bytes|
// What an H200's printf makes of formats, those that it does not know included; and its malloc of no bytes.
#include "check.h"
#pragma nv_diag_suppress 224

__global__ void say(const char *nothing_there)
{
    printf("[%05d] [%*d] [%.*d] [%zu] [%Lf]\n", -42, 5, 42);
    printf("[%s] [%7s] [%.*s]\n", nothing_there, "words");
    void *p = malloc(0);
    if (p) printf("a pointer for no bytes\n");
    free(p);
}

int main()
{
    say<<<1, 1>>>(nullptr);
    OK(cudaDeviceSynchronize());
    return 0;
}
