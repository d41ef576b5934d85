#!/bin/sh
# Random warps, of which it is known beforehand whether two lanes race (lanes/main.cu): the simulated device must say so of those that do, and
# nothing of the others. `LANES=5000 sh simulator/test/lanes.sh` looks further.
set -e
cd "$(dirname "$0")/../.."
to=build/test/lanes
mkdir -p "$to"
if [ ! "$to/lanes" -nt simulator/test/lanes/main.cu ]; then
    nvcc -O1 -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o "$to/lanes" simulator/test/lanes/main.cu
fi
seq 1 "${LANES:-1000}" | xargs -P "$(nproc)" -I{} sh -c '
    known=$(simulator/run --error-exitcode 0 '"$to"'/lanes {} 2>'"$to"'/{}.said) || known="failed, knowing $known"
    said=none
    [ ! -s '"$to"'/{}.said ] || said=other
    ! grep -q "^warpwise: data race" '"$to"'/{}.said || said=race
    echo "{} $known $said"' | awk '
    { count[$2]++ }
    $2 != $3 { print "warp " $1 ": there is " $2 ", and the simulated device says " $3; wrong++ }
    END {
        if (count["race"] < NR / 4 || count["none"] < NR / 4) { print "too few races, or too few without"; wrong++ }
        printf "%d passed, %d failed\n", NR - wrong, wrong
        exit wrong > 0
    }'
