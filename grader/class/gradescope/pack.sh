#!/bin/sh
# Makes the zip that Gradescope takes as an autograder (gradescope-autograders.readthedocs.io/en/latest/specs/):
#
#     grader/class/gradescope/pack.sh FILE.zip LESSON...      (make gradescope)
#
# Gradescope unpacks it into /autograder/source, and calls setup.sh and run_autograder. There is in it
#     course/            what builds the simulated device and the graders
#     grades/class.cfg   which lessons count (grader/class/example.cfg)
set -eu
to=$1
shift
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

cp grader/class/gradescope/setup.sh grader/class/gradescope/run_autograder "$tree"
chmod 755 "$tree/setup.sh" "$tree/run_autograder"
mkdir "$tree/course" "$tree/grades"
tar -cf - --exclude=test --exclude='*.edit' --exclude=grader/wrong --exclude=grader/attacks --exclude=simulator/bench \
    Makefile LICENSE setup grader lessons solutions simulator profiles/lessons profiles/devices ./*/*.mk |
    tar -xf - -C "$tree/course"
sh setup/version.sh >"$tree/course/VERSION" # with its commit
{
    echo 'lessons = ('
    printf '    { name = "%s"; }\n' "$@" | sed '$!s/$/,/'
    echo ');'
} >"$tree/grades/class.cfg"

mkdir -p "$(dirname "$to")"
rm -f "$to.new"
(cd "$tree" && zip -qr - .) >"$to.new"
mv "$to.new" "$to"
