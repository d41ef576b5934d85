// expect: unsupported 23, exit 0
// says: the statement 'call nothing, (1)'
// A kernel of PTX alone, of which the device cannot read a statement behind many registers: no more than that kernel is
// lost.
#include "check.h"

#include <string>

int main()
{
    std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\n"
                      ".func nothing(.reg .b32 %x)\n{\n    ret;\n}\n"
                      ".visible .entry unread()\n{\n    .reg .b32 %r<400>;\n    mov.u32 %r0, %tid.x;\n";
    for (int n = 1; n < 400; n++)
        ptx += "    add.u32 %r" + std::to_string(n) + ", %r" + std::to_string(n - 1) + ", 1;\n";
    ptx += "    call nothing, (1);\n    ret;\n}\n.visible .entry read()\n{\n    ret;\n}\n";

    cudaLibrary_t library;
    cudaKernel_t unread, read;
    OK(cudaLibraryLoadData(&library, ptx.c_str(), NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&unread, library, "unread"));
    OK(cudaLibraryGetKernel(&read, library, "read"));
    CHECK(cudaLaunchKernel((void *)unread, 1, 32, NULL, 0, NULL) == cudaErrorNotSupported);
    OK(cudaLaunchKernel((void *)read, 1, 32, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    return 0;
}
