#!/bin/sh
# Tests the workflow that an instructor copies into a class's repositories (grader/class/workflow.yml): a YAML parser reads it, and its
# last step grades what a student has changed, in a tree of its own with lessons 1 and 5.
set -u
[ -x build/grader/01-first-kernel ] || { echo 'workflow: type make ready-1 first'; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
# shellcheck disable=SC2034
shown=$scratch/said
. grader/holds.sh
: >"$scratch/said"
unset MAKEFLAGS MAKELEVEL MFLAGS

# The one that has the package: another Python may stand first on PATH.
python() { if python3 -c 'import yaml' 2>/dev/null; then python3 "$@"; else /usr/bin/python3 "$@"; fi; }

# The last step's command; and the rest is as a forge wants it.
python - >"$scratch/step" <<'PY'
import yaml
flow = yaml.load(open("grader/class/workflow.yml"), yaml.BaseLoader)
assert set(flow) == {"name", "on", "jobs"} and flow["on"] == ["push"]
(job,) = flow["jobs"].values()
assert set(job) <= {"runs-on", "container", "timeout-minutes", "steps"} and job["runs-on"]
assert all(("run" in step) != ("uses" in step) for step in job["steps"])
assert next(step for step in job["steps"] if "uses" in step)["with"]["fetch-depth"] == "0"
last = job["steps"][-1]
assert last["env"]["BEFORE"] == "${{ github.event.before }}" and set(last["env"]) == {"BEFORE", "STEP"}
print(last["run"])
PY
holds 'the workflow is not as a forge wants it' [ $? -eq 0 ]

# ---- A student's clone

tree=$scratch/tree
mkdir -p "$tree/build" "$tree/exercises"
for part in Makefile book grader lessons profiles setup simulator solutions; do ln -s "$PWD/$part" "$tree/$part"; done
for part in grader objects setup simulator cuda; do ln -s "$PWD/build/$part" "$tree/build/$part"; done
for lesson in 01-first-kernel 05-transpose; do
    awk -f solutions/strip.awk "solutions/$lesson.cu" >"$tree/exercises/$lesson.cu"
done
mine=$tree/exercises/01-first-kernel.cu
git() { command git -C "$tree" -c user.name=Ada -c user.email=ada@example.org "$@" >/dev/null 2>&1; }
commit() { git add exercises && git commit -m 'an exercise' && before=$now && now=$(command git -C "$tree" rev-parse HEAD); }
now=0000000000000000000000000000000000000000
git init
commit

# pushed BEFORE STEP: the step's command, as a forge runs it.
pushed() { (cd "$tree" && env "BEFORE=$1" "STEP=$2" DEVICE=simulator/run sh -e "$scratch/step") >"$scratch/said" 2>&1; }
fails() { ! pushed "$@"; }
says() { holds "not said: $1" grep -q -- "$1" "$scratch/said"; }

holds 'a fresh clone fails' pushed "$before" ''
says '^No exercise has changed\.$'

cp solutions/01-first-kernel.cu "$mine"
commit
holds 'a right answer fails' pushed "$before" ''
says '^PASS    lesson 1'
holds 'what did not change is graded' [ "$(grep -c 'lesson [0-9]' "$scratch/said")" -eq 1 ]
holds 'a new branch with a right answer fails' pushed 0000000000000000000000000000000000000000 ''
says '^PASS    lesson 1'

echo '// a word more' >>"$tree/exercises/05-transpose.cu"
commit
given=$before
git checkout "$before" -- exercises
commit
holds 'a file that is as it was before is graded' pushed "$given" ''
says '^No exercise has changed\.$'

sh grader/wrong.sh grader/wrong/01-first-kernel/chunk-per-thread.edit >"$mine"
commit
holds 'step 1 is a PASS' fails "$before" ''
says '^SLOW    lesson 1: right.*Step 1 of 2'
holds 'step 1 is step 2' fails "$before" 2
holds 'step 1 is not enough' pushed "$before" 1
says '^01-first-kernel: step 1 is enough here'

sh grader/wrong.sh grader/wrong/01-first-kernel/block-too-large.edit >"$mine"
commit
holds 'a wrong answer is enough' fails "$before" 0
says '^CRASH   lesson 1'
holds 'does not end as make does' grep -q 'Next:' "$scratch/said"

echo "workflow: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
