#!/bin/sh
# The trace of a check (grader/trace.h) from end to end: submissions for lesson 1 are graded on the simulated device by a check that
# prints what it finds there (trace/01-first-kernel.c), which must be trace/NAME.expected. NAME is the solution, `solution`; a
# wrong submission of lesson 1; or trace/NAME.cu.
set -u
here=grader/test
root=build/test/trace.$$
tree=$PWD/$root
trap 'rm -rf "$tree"' EXIT
mkdir -p "$root/build/grader" "$root/profiles" "$root/exercises"
ln -s "$PWD/grader" "$PWD/simulator" "$PWD/solutions" "$root"
ln -s "$PWD/profiles/lessons" "$PWD/profiles/devices" "$root/profiles"
ln -s "$PWD/build/grader/worker.o" "$root/build/grader/worker.o"
${CC:-gcc} -std=gnu17 -O1 -g -Wall -Wextra -Werror -Igrader -o "$root/build/grader/01-first-kernel" $here/trace/01-first-kernel.c \
    $(ls grader/*.c | grep -v worker.c) -lcriterion -ljansson -lconfig -lpng -lz -lm || exit 1

# The text of a submission.
submission() {
    if [ "$1" = solution ]; then cat solutions/01-first-kernel.cu
    elif [ -f "$here/trace/$1.cu" ]; then cat "$here/trace/$1.cu"
    else sh grader/wrong.sh "grader/wrong/01-first-kernel/$1.edit"; fi
}

passed=0 failed=0
for expected in $here/trace/${CASES:-*}.expected; do
    name=$(basename "$expected" .expected)
    submission "$name" >"$root/exercises/$name.cu"
    env -u PROFILE DEVICE="$PWD/simulator/run" TRACE_OUT="$tree/$name.out" SEED= \
        "$root/build/grader/01-first-kernel" --check traced --result "$tree/$name.json" "$root/exercises/$name.cu" \
        >"$root/$name.log" 2>&1 </dev/null
    if cmp -s "$expected" "$root/$name.out"; then
        passed=$((passed + 1))
    else
        echo "$name: not the trace expected"
        diff "$expected" "$root/$name.out" | sed 's/^/    /'
        sed 's/^/    /' "$root/$name.log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
