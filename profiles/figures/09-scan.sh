#!/bin/sh
# Measures what lesson 9 says of its versions: the launches of version 2 one by one, and version 6 as it is, with tiles that
# tell nothing before their prefix, and with blockIdx.x for a ticket. On a machine with a GPU, in the repository's root:
#
#     sh profiles/figures/09-scan.sh >profiles/figures/09-scan.txt
set -e
build=${BUILD:-build}

measure() {   # its name, the solution's version, and what sed changes in it
    sed "$3" solutions/09-scan.cu >"$build/scan.cu"
    if [ "$3" ] && cmp -s "$build/scan.cu" solutions/09-scan.cu; then
        echo "solutions/09-scan.cu: nothing to change by sed's words for $1" >&2
        exit 1
    fi
    nvcc -std=c++17 -O3 -arch=native --extended-lambda -Igrader/lessons -DVERSION="$2" -DNAME="\"$1\"" \
        -include "$build/scan.cu" -o "$build/measure" profiles/figures/09-scan.cu
    "$build/measure"
}

echo "# Written by profiles/figures/09-scan.sh on $(date +%F), on an $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
echo "# 2^26 ints: what was timed, microseconds (the median of 21)"
measure "version 2" 2 ""
measure "version 6" 6 ""
measure "version 6, prefixes alone" 6 's/tell(&words\[tile\], tile > 0 ? SUM : PREFIX, whole)/if (tile == 0) tell(words, PREFIX, whole)/'
measure "version 6, blockIdx.x" 6 's/tile = drawn,/tile = blockIdx.x,/'
