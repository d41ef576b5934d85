#!/bin/sh
# Grades the exercises that a student has changed, for a forge's continuous integration (grader/class/workflow.yml) or any other:
#
#     sh grader/class/changed.sh [COMMIT]     those that differ from that commit; where there is no such commit, those that are no
#                                             longer as they were handed out
#
# Ends with 1 unless each of them passes. With STEP=1 in the environment, a right answer at step 1 of the ladder is enough.
set -u
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

if git cat-file -e "${1:-none}^{commit}" 2>/dev/null; then
    git diff --name-only --diff-filter=d "$1" -- exercises
else
    for exercise in exercises/*.cu; do
        awk -f solutions/strip.awk "solutions/${exercise##*/}" | cmp -s - "$exercise" || echo "$exercise"
    done
fi | sed -n 's|^exercises/\([0-9][0-9]-.*\)\.cu$|\1|p' >"$scratch"

# The step of the ladder that a right answer reaches, of the result.
step_of() {
    grep -qx ' "verdict": "SLOW",*' "$1" && sed -n '/^ "score": {/,/^ }/s/^  "step": \([0-9]*\).*/\1/p' "$1"
}

status=0
while read -r lesson; do
    number=${lesson%%-*}
    rm -f "build/results/$lesson.json"
    make -s "lesson-${number#0}" </dev/null && continue
    step=$(step_of "build/results/$lesson.json")
    if [ -n "${STEP:-}" ] && [ "${step:--1}" -ge "$STEP" ]; then
        echo "$lesson: step $step is enough here (STEP=$STEP)"
    else
        status=1
    fi
done <"$scratch"
[ -s "$scratch" ] || echo 'No exercise has changed.'
exit $status
