#!/bin/sh
# The rooms of the simulated device keep their order (simulator/rooms.txt), in what they include and in what they link.
# (grader/test/check.sh goes against it, and sees that found.)
set -u
cd "$(dirname "$0")/../.."
passed=0 failed=0
for by in includes symbols; do
    said=$(sh simulator/rooms.sh $by build/objects/simulator)
    if [ -z "$said" ]; then passed=$((passed + 1)); else echo "$said"; failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
