#!/bin/sh
# Tests grader/suite.sh: what it counts, and what it holds to be a failure.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
. grader/holds.sh
suite=$PWD/grader/suite.sh

# counts LINE STATUS COMMAND: the suite of that command is told of as the line says, and ends with the status.
counts() {
    line=$1 due=$2
    said=$(cd "$scratch" && sh "$suite" it sh -c "$3" 2>&1)
    status=$?
    holds "$3: ends with $status, not $due" [ "$status" -eq "$due" ]
    holds "$3: says \"$said\", not \"$line\"" [ "$(echo "$said" | head -n 1)" = "$line" ]
}

counts 'it: 3 passed, 0 failed' 0 'echo "1 passed, 2 failed"; echo "3 passed, 0 failed"'
counts 'it: 2 passed, 1 failed' 1 'echo "2 passed, 1 failed"; exit 1'
counts 'it: 4 passed, 1 failed' 1 'echo "4 of 5 cases passed"; exit 1'
counts 'it: 5 passed, 2 failed' 1 'echo "Synthesis: Tested: 7 | Passing: 5 | Failing: 1 | Crashing: 1"; exit 1'
counts 'it: 0 passed, 1 failed: nothing ran' 1 'true'
counts 'it: 3 passed, 1 failed: ended with status 3' 1 'echo "3 passed, 0 failed"; exit 3'

# The tally ends with what failed, and with the sum.
rm "$scratch/build/test/counts"
counts 'it: 2 passed, 1 failed' 1 'echo "what failed"; echo "2 passed, 1 failed"; exit 1'
holds "the tally does not end with what failed, and the sum" [ "$(cd "$scratch" && sh "${suite%suite.sh}tally.sh" | tail -n 4)" = "it failed:
what failed
2 passed, 1 failed
2 passed, 1 failed" ]

# What hangs is killed with all that it has started, and named.
export SUITE_LIMIT=1
counts 'it: 1 passed, 1 failed: killed after 1 s' 1 'echo "1 passed, 0 failed"; sh -c "sleep 98765; true" | cat'
holds "what hung is not named" grep -q '^- [0-9]* sleep 98765' "$scratch/build/test/it.log"
holds "what hung runs on" [ -z "$(grep -lazx '9876[5]' /proc/[0-9]*/cmdline 2>/dev/null)" ]

echo "suite: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
