#!/bin/sh
# Compares what the simulated device's runtime answers to calls at the edge (answers/*.c) with what an H200's did, line by line.
# answers/departures.txt names the questions that it is to answer otherwise, and says why.
# `DEVICE=gpu sh simulator/test/answers.sh --record NOTE` records a GPU's answers; with one GPU alone, what two of them
# answered stays as it was.
set -e
cd "$(dirname "$0")/../.."
from=simulator/test/answers
to=build/test/answers
home=${CUDA_HOME:-$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")}
device=${DEVICE:-simulator/run}
mkdir -p "$to"
if [ ! "$to/linked.o" -nt "$from/kernels.cu" ]; then
    nvcc -std=c++17 -rdc=true -gencode 'arch=compute_90,code=[compute_90,sm_90]' -c -o "$to/kernels.o" "$from/kernels.cu"
    nvcc -dlink -gencode 'arch=compute_90,code=[compute_90,sm_90]' -o "$to/linked.o" "$to/kernels.o" -lcudadevrt 2>"$to/log" ||
        { cat "$to/log"; exit 1; }
fi
gcc -std=gnu17 -D_GNU_SOURCE= -O1 -g -Wall -Wextra -Werror -Wno-clobbered -isystem "$home/include" -o "$to/answers" "$from"/*.c \
    "$to/kernels.o" "$to/linked.o" -L"$home/lib64" -lcudadevrt "$home"/lib64/libcudart.so.13 -lpthread -lstdc++
export LD_LIBRARY_PATH="$home/lib64"        # a device that is in front puts its own runtime before that
if [ "$device" = gpu ]; then
    all=${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -sd,)}
    here=$(echo "$all" | tr , '\n' | wc -l)
    one="env CUDA_VISIBLE_DEVICES=${all%%,*}" two=
else
    here=2 one=$device two="$device --devices 2"
fi

# A process for each group: what a call broke is not mended in it. Nor is every end of one a good one.
rm -f "$to"/*.txt
"$to/answers" >"$to/groups"
export to one two
awk -v here="$here" '$2 <= here' "$to/groups" | xargs -P "$(nproc)" -L1 sh -c '
    [ "$1" = 1 ] && run=$one || run=$two
    $run "$to/answers" "$0" >"$to/$0.txt" 2>"$to/$0.err" || true
    grep -q "^$0: end: reached" "$to/$0.txt" || echo "$0: end: not reached" >>"$to/$0.txt"'
[ "${1:-}" != --print ] || exec cat "$to"/*.txt
if [ "${1:-}" = --record ]; then
    { echo "# What a GPU answered: $2"
      grep -v '^#' "$from/h200.txt" 2>/dev/null | awk -v here="$here" 'NR == FNR { need[$1 ":"] = $2; next } need[$1] > here' "$to/groups" -
      cat "$to"/*.txt; } >"$to/recorded" && mv "$to/recorded" "$from/h200.txt"
    exit
fi
exec awk -f "$from/compare.awk" "$from/departures.txt" "$from/h200.txt" "$to"/*.txt
