#!/bin/sh
# Tests `make gradescope`: its zip, unpacked into a folder as Gradescope has it, in a container that refuses namespaces as Docker's do.
# Right and wrong submissions, archives, one that writes its own result, and a grader that fails: each has a results.json.
set -u
[ -x build/grader/01-first-kernel ] && [ -x build/grader/class ] || { echo 'gradescope: type make ready-1 build/grader/class first'; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
autograder=$scratch/autograder
course=$autograder/source/course
submission=$autograder/submission
results=$autograder/results/results.json
passed=0 failed=0
# shellcheck disable=SC2034
shown=$scratch/said
. grader/holds.sh
gcc -O1 -o "$scratch/calls" grader/test/sandbox/calls.c -lseccomp || exit 1

# ---- The zip, as Gradescope unpacks it

refused() { ! make -s gradescope "$@" >"$scratch/said" 2>&1 && grep -q '^\(Say which lessons\|There is no lesson 77\)' "$scratch/said"; }
holds 'there is a zip without a lesson' refused
holds 'there is a zip for a lesson that there is not' refused LESSON='1 77'
sh grader/class/gradescope/pack.sh "$scratch/autograder.zip" 01-first-kernel
mkdir -p "$autograder/source" "$submission" "$autograder/results"
unzip -q "$scratch/autograder.zip" -d "$autograder/source"
ls -R "$autograder/source" >"$scratch/said"
for script in setup.sh run_autograder; do holds "$script is no program" [ -x "$autograder/source/$script" ]; done
holds 'tests, or submissions that are wrong, are in it' [ -z "$(find "$course" -name '*.edit' -o -name test)" ]

# What setup.sh would build is here.
mkdir "$course/build"
for part in grader objects setup simulator; do ln -s "$PWD/build/$part" "$course/build/$part"; done
ln -s "$PWD/build/cuda" "$course/build/cuda"

contained() { "$scratch/calls" contained env "AUTOGRADER=$autograder" "$@" >"$scratch/said" 2>&1 </dev/null; }
contained "$autograder/source/setup.sh"
holds 'it is not set up' grep -q '^Our own answers pass in this container: 01-first-kernel' "$scratch/said"

# ---- Submissions

# hands_in FILE: with the name of the lesson's file; the result of what was there before stands.
empty() { rm -rf "$submission"; mkdir "$submission"; chmod 777 "$autograder/results"; }
hands_in() { empty; cat "$1" >"$submission/01-first-kernel.cu"; }
wrong() { sh grader/wrong.sh "grader/wrong/01-first-kernel/$1" >"$submission/01-first-kernel.cu"; }
grades() { contained "$autograder/source/run_autograder"; cp "$results" "$scratch/result-$((passed + failed)).json"; }
# gets POINTS VERDICT WORDS: the score, the verdict in the test's name, and words of its output.
gets() {
    grades
    python3 - "$results" "$@" <<'PY' >>"$scratch/said"
import json, sys
result, points, verdict, words = json.load(open(sys.argv[1])), float(sys.argv[2]), *sys.argv[3:]
test, = result["tests"]
print(json.dumps(result, indent=1))
sys.exit(not (result["score"] == test["score"] == points and test["name"] == "01-first-kernel: " + verdict and words in test["output"]
              and test["max_score"] == 10 and test["status"] == ("passed" if verdict == "PASS" else "failed")))
PY
    holds "no $2 with $1 points" [ $? -eq 0 ]
}
level=no
[ "$(id -u)" != 0 ] || level=user

hands_in solutions/01-first-kernel.cu
gets 10 PASS 'PASS'
holds "not trusted as $level" grep -q "\"trusted\": \"$level\"" "$results"
grep -o '"token": "[^"]*"' "$results" >"$scratch/token"
rm -rf "$autograder/source/grades/results"
gets 10 PASS 'PASS'
holds 'other inputs the second time' [ "$(grep -o '"token": "[^"]*"' "$results")" = "$(cat "$scratch/token")" ]
empty
wrong chunk-per-thread.edit
gets 7 SLOW 'Step 1 of 2, 7/10'
rules=$autograder/source/grades/class.cfg
cp "$rules" "$scratch/class.cfg"
echo 'lessons = ( { name = "01-first-kernel"; weight = 2; points = ( 4, 8, 10 ); } );' >"$rules"
grades
holds 'weight and points of class.cfg do not count' [ "$(grep -oE '"(max_)?score": [0-9.]*' "$results" | paste -sd ' ')" = \
    '"score": 16.0 "max_score": 20.0 "score": 16.0' ]
cp "$scratch/class.cfg" "$rules"
empty
wrong block-too-large.edit
gets 0 CRASH 'Next:'
hands_in exercises/01-first-kernel.cu
gets 0 TODO 'is yours to write'
empty
echo notes >"$submission/notes.txt"
gets 0 REFUSED 'it has notes.txt'
empty
gets 0 MISSING 'hand in your exercises/01-first-kernel.cu'
empty
ln -s /etc/passwd "$submission/01-first-kernel.cu"
gets 0 REFUSED 'it is a link'
empty
mkdir "$scratch/packed"
cp solutions/01-first-kernel.cu "$scratch/packed"
tar -czf "$submission/mine.tar.gz" -C "$scratch" packed
gets 10 PASS 'PASS'
empty
ln -s /etc/passwd "$scratch/packed/link"
tar -czf "$submission/mine.tar.gz" -C "$scratch" packed
gets 0 REFUSED 'link'
empty
printf '#include "01-first-kernel.h"\n#error "</pre>" \\ \033[31m\n' >"$submission/01-first-kernel.cu"
gets 0 BUILD '</pre>'

# One that has a result of its own ready, and leaves a folder where ours belongs.
hostile() {
    cat <<CU
#include "01-first-kernel.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
__attribute__((constructor)) static void mark(void)
{
    mkdir("$results", 0777);
    rename("$results", "$results.old");
    FILE *f = fopen("$results", "w");
    if (f) fputs("{\"score\": 100}", f), fclose(f);
    fputs("{\"score\": 100}", stdout);
}
void vector_add(float *, const float *, const float *, int) {}
CU
}
if [ $level = user ]; then
    hostile >"$scratch/hostile.cu"
    hands_in "$scratch/hostile.cu"
    gets 0 WRONG 'was never written'
    holds 'it left something beside the results' [ "$(ls "$autograder/results")" = results.json ]
    holds "the results are another user's" [ "$(stat -c %u "$results")" = 0 ]
    echo "#include \"$course/solutions/01-first-kernel.cu\"" >"$scratch/hostile.cu"
    hands_in "$scratch/hostile.cu"
    gets 0 BUILD 'ermission denied'
else
    echo 'gradescope: NOT CHECKED, since only root can be kept apart here: a submission that writes its own result'
fi

# ---- A grader that fails, and a place where there is none

hands_in solutions/01-first-kernel.cu
rm "$course/build/grader" && mkdir "$course/build/grader"
ln -s "$PWD"/build/grader/* "$course/build/grader"
rm "$course/build/grader/01-first-kernel"
rm -rf "$autograder/source/grades/results"
gets 0 GRADER-ERROR 'The grader failed. This is no mark'
holds 'it is not said above' grep -q '"output": "The grader failed in 1 of 1 lessons' "$results"
rm "$course/build/grader/class"
grades
holds 'without the program there is no result' grep -q '"output": "The grader failed: it did not come to its end' "$results"
mv "$course" "$course.elsewhere"
grades
holds 'without the course there is no result' grep -q '"output": "The grader failed: the course is not' "$results"

python3 grader/test/schema.py --changed grader/class/gradescope.schema.json "$scratch"/result-*.json >"$scratch/said" 2>&1
holds 'a result is not as Gradescope wants it' [ $? -eq 0 ]
echo "gradescope: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
