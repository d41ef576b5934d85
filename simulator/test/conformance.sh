#!/bin/sh
# Compares the simulated device with a real GPU, instruction by instruction (conformance/main.c): with the answers of one that
# are in the repository. DEVICE=gpu runs on a GPU instead; `DEVICE=gpu sh simulator/test/conformance.sh --record NOTE` records.
set -e
cd "$(dirname "$0")/../.."
home=${CUDA_HOME:-$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")}
answers=simulator/test/conformance/h200.txt
mkdir -p build/test
gcc -std=gnu17 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -isystem "$home/include" -o build/test/conformance \
    simulator/test/conformance/*.c "$home"/lib64/libcudart.so.13 -lm
if [ "${DEVICE:-}" = gpu ]; then
    LD_LIBRARY_PATH=$home/lib64 exec build/test/conformance "${ANSWERS:-$answers}" "$@"
fi
exec simulator/run build/test/conformance "${ANSWERS:-$answers}" "$@"
