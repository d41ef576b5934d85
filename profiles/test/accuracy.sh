#!/bin/sh
# Today's simulated device against what was measured on an H200: no bound of profiles/accuracy/bounds.cfg is exceeded, and
# every kernel is in the table.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

build/profiles/accuracy compare profiles/accuracy/nvidia-h200.json "$scratch/table.md" >"$scratch/said" 2>&1
status=$?
cat "$scratch/said"
if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

if [ "$(grep -c '^| [a-z]* | [a-z_0-9]* | *[a-z ]*|' "$scratch/table.md")" -ge 96 ]; then
    passed=$((passed + 1))
else
    echo 'the table lacks kernels'
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
