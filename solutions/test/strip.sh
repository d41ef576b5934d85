#!/bin/sh
# Tests strip.awk: each solutions/test/NAME.cu must give NAME.expect, which holds the skeleton or
# the complaint, and then the exit status; NAME.fill, where there is one, what -v fill=1 gives. Prints a count; fails if one differs or none was found.
cd "$(dirname "$0")" || exit 1
passed=0 failed=0
for source in *.cu; do
    expect=${source%.cu}.expect
    fill=${source%.cu}.fill
    if { awk -f ../strip.awk "$source" 2>&1; echo "status $?"; } | diff "$expect" - &&
        { [ ! -f "$fill" ] || awk -v fill=1 -f ../strip.awk "$source" | diff "$fill" -; }; then
        passed=$((passed + 1))
    else
        echo "solutions/test/$source: not what $expect says (above: < expected, > got)"
        failed=$((failed + 1))
    fi
done
echo "strip.awk: $passed of $((passed + failed)) cases passed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
