#!/bin/sh
# What the suites of `make test` have counted (grader/suite.sh): why some failed, each one's share of the time, and the sum.
# The shares are of what all suites took together, which is more than the run took where several ran side by side.
set -u
counts=build/test/counts

awk '$2 { print $3 }' $counts | while read -r suite; do
    echo "$suite failed:"
    grep -v '^[[:space:]]' "build/test/$suite.log" | head -n 12 | cut -c1-200
done
sort -k 4,4nr $counts | awk '
    { name[NR] = $3; seconds[NR] = $4; all += $4; passed += $1; failed += $2 }
    END {
        for (n = 1; n <= NR; n++)
            printf "%6.1f s %4.1f %%  %s\n", seconds[n], 100 * seconds[n] / (all ? all : 1), name[n]
        printf "%d passed, %d failed\n", passed, failed
        exit !passed || failed
    }'
