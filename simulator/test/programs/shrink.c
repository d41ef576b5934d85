// expect: exit 0
// The staging memory cannot be taken away under the device.
#include "check.h"
#include "../../wire/wire.h"
#include <unistd.h>

int main(void)
{
    int device, memory;
    CHECK(sscanf(getenv(WIRE_ENVIRONMENT), "%d,%d", &device, &memory) == 2);
    CHECK(ftruncate(memory, 0) != 0);
    OK(cudaFree(NULL));
    CHECK(ftruncate(memory, 0) != 0);
    return 0;
}
