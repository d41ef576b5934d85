#!/bin/sh
# `make record-5`, on a machine with a GPU: grades every version of lesson 5's solution there, and puts what the course
# keeps of the results (grader/summary.h) into profiles/results/MACHINE/05-transpose.json, which is committed. The results
# themselves stay in build/record. Then it holds the versions to the lesson's targets by that file.
#
#     profiles/record.sh 05-transpose [VERSION...]     these versions alone; what the file has of others stays
#
# MACHINE is the GPU's name unless told: MACHINE=nvidia-h200-x2 make record-29, say, for a machine with fewer GPUs than
# the lesson takes.
set -eu
lesson=$1
shift
grader=build/grader/$lesson
results=build/record/$lesson
last=$(sed -n 's|^#define VERSION \([0-9]*\).*|\1|p' "solutions/$lesson.cu")
all=$(seq 1 "${last:-1}")
rm -rf "$results"
mkdir -p "$results"

for version in ${*:-$all}; do
    # shellcheck disable=SC2086
    "$grader" ${last:+--define VERSION=$version} --result "$results/$version.json" "solutions/$lesson.cu" || true
done

# The GPU's name, which is two levels deep in a result; a run that did not come as far as the GPU has none.
name=$(cat "$results"/*.json | sed -n 's/^  "device": "\(.*\)",*$/\1/p' | head -n 1 | tr 'A-Z ' 'a-z-')
record=profiles/results/${MACHINE:-${name:-none}}/$lesson.json
mkdir -p "$(dirname "$record")"
# shellcheck disable=SC2046
"$grader" --summary "$record" $(printf "$results/%s.json " $all) || { rmdir "$(dirname "$record")" 2>/dev/null; exit 1; }
echo "$record: recorded"
exec "$grader" --hold gpu "$record" "${last:-1}"
