#!/bin/sh
# Tests grader/wrong.sh, and with it solutions/edit.awk: of grader/test/wrong/NAME.edit, an edit of toy.cu there, or NAME.cu, a
# whole file, NAME.expect has what is printed, or the complaint, and then the exit status. Prints a count; fails
# if one differs or none was found.
root=$PWD
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

mkdir -p "$tree/solutions" "$tree/grader/wrong/toy"
cp solutions/*.awk grader/test/wrong/toy.cu "$tree/solutions"
cp grader/test/wrong/*.edit grader/test/wrong/*.cu "$tree/grader/wrong/toy"
rm "$tree/grader/wrong/toy/toy.cu"
cd "$tree" || exit 1
for submission in grader/wrong/toy/*; do
    name=$(basename "${submission%.*}")
    if { sh "$root/grader/wrong.sh" "$submission" 2>&1; echo "status $?"; } | diff "$root/grader/test/wrong/$name.expect" -; then
        passed=$((passed + 1))
    else
        echo "$submission: not what grader/test/wrong/$name.expect says (above: < expected, > got)"
        failed=$((failed + 1))
    fi
done
echo "wrong.sh: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
