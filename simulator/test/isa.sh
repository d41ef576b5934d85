#!/bin/sh
# Tests every row of the instruction table (isa/main.c): on the simulated device, or with DEVICE=gpu on a real one.
# A kernel that spins for ever is stopped, by name: no test here takes a hundredth of the limit.

cd "$(dirname "$0")/../.." || exit 1
home=${CUDA_HOME:-$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")}
mkdir -p build/test
gcc -std=gnu17 -D_GNU_SOURCE= -O1 -g -Wall -Wextra -Werror -isystem "$home/include" -o build/test/isa \
    simulator/test/isa/*.c "$home"/lib64/libcudart.so.13 -lm || exit 1
if [ "${DEVICE:-}" = gpu ]; then
    LD_LIBRARY_PATH=$home/lib64 exec build/test/isa simulator/test/isa build/test simulator/test/conformance/h200.txt
fi
exec simulator/run --error-exitcode 0 --limit 1000000 build/test/isa simulator/test/isa build/test simulator/test/conformance/h200.txt
