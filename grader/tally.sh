#!/bin/sh
# What the suites of `make test` have counted (grader/suite.sh): how long each took, what it took of the processors' time, with its
# share of what all of them took; why some failed; and the sum of the tests. The end is what stays when a long output is cut.
set -u
counts=build/test/counts

sort -k 5,5nr $counts | awk '
    { name[NR] = $3; seconds[NR] = $4; processor[NR] = $5; all += $5 }
    END {
        for (n = 1; n <= NR; n++)
            printf "%6.1f s, of the processors %6.1f s, %4.1f %%  %s\n", seconds[n], processor[n],
                100 * processor[n] / (all ? all : 1), name[n]
    }'
awk '$2 { print $3 }' $counts | while read -r suite; do
    echo "$suite failed:"
    grep -v '^[[:space:]]' "build/test/$suite.log" | head -n 12 | cut -c1-200
done
awk '
    { passed += $1; failed += $2 }
    END {
        printf "%d passed, %d failed\n", passed, failed
        exit !passed || failed
    }' $counts
