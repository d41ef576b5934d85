#!/bin/sh
# Measures what lesson 11 says of its versions, of CUB, and of version 4 changed: with __match_any_sync for its votes, with
# tiles of half the size, and with blockIdx.x for a ticket. On a machine with a GPU, in the repository's root:
#
#     sh profiles/figures/11-radix-sort.sh >profiles/figures/11-radix-sort.txt
set -e
build=${BUILD:-build}

compile() {   # the program's name, its series, and what comes before it
    program=$1 name=$2
    shift 2
    nvcc -std=c++17 -O3 -arch=native --extended-lambda -Igrader/lessons -DNAME="\"$name\"" "$@" \
        -o "$build/measure-$program" profiles/figures/11-radix-sort.cu
}

change() {    # the program's name, its series, and what sed changes in the solution
    sed "$3" solutions/11-radix-sort.cu >"$build/$1.cu"
    if cmp -s "$build/$1.cu" solutions/11-radix-sort.cu; then
        echo "solutions/11-radix-sort.cu: nothing to change by sed's words for $2" >&2
        exit 1
    fi
    compile "$1" "$2" -DBRIEF -DVERSION=4 -include "$build/$1.cu"
}

compile cub CUB -include grader/lessons/11-radix-sort.peer.cu &
for version in 1 2 3 4; do
    compile "$version" "version $version" -DVERSION="$version" -include solutions/11-radix-sort.cu &
done
change match 'version 4, __match_any_sync' 's/unsigned same = same_digit(digit);/unsigned same = __match_any_sync(ALL, digit);/' &
change half 'version 4, tiles of 4096' 's/ROWS = 32,/ROWS = 16,/' &
change block 'version 4, blockIdx.x' 's/int tile = draw(ticket), t = /int tile = blockIdx.x, t = /' &
wait

echo "# Written by profiles/figures/11-radix-sort.sh on $(date +%F), on an $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
echo "# series, elements sorted (uniform words), 10^9 a second"
for program in 4 cub 3 2 1 match half block; do "$build/measure-$program"; done
