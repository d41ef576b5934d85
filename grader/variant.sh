#!/bin/sh
# What `make variant` (grader/class/variant.c) writes of a variant, whose word is, say, squares-7-3f2a (grader/variant.h):
#
#     sh grader/variant.sh answer 08-reduction squares-7-3f2a     our answer to it
#     sh grader/variant.sh handout 08-reduction squares-7-3f2a    what students get: the task, and the lesson's skeleton
#     sh grader/variant.sh prove 08-reduction squares-7-3f2a      that the machine can do it, and needs the task for it
#     sh grader/variant.sh try 08-reduction squares-7-3f2a        the same of the last version alone
#
# The proof: each version of the answer reaches the step of the ladder that the same version of the solution reaches in the lesson
# (`NN-name --hold`), and the last version is gold; the lesson's own solution is WRONG, and told why.
set -u
what=$1 lesson=$2 word=$3
number=$(expr "$lesson" : '0*\([0-9]*\)-')

answer() {
    printf '#define VARIANT_ROW %s\n#define VARIANT_C %s\n' "${word%%-*}" "$(expr "$word" : '[a-z]*-\([0-9]*\)-')"
    sh grader/wrong.sh "grader/variants/$lesson/answer.edit" | grep -v '^// \(expect\|version\): '
}

handout() {
    task=$("build/grader/$lesson" --variant "$word" | sed 1d) && [ -n "$task" ] || return 1
    cat <<TEXT | fold -s -w 95 | sed 's/ *$//; s|^|// |; s|^// $|//|'
Lesson $number, a variant for your class: $word

$task

Where this and the contract in grader/lessons/$lesson.h differ, this holds. The rest of the contract holds, too, and the steps are those of the lesson. The lesson's text helps, but neither its solution nor the skeleton below knows of the variant: change whatever it asks for. Keep this file as exercises/$lesson.cu, and type:

    make lesson-$number VARIANT=$word

TEXT
    awk -f solutions/strip.awk "solutions/$lesson.cu"
}

# Grades these versions of the answer, side by side, into $scratch/version-N.json. Each must be right.
grade() {
    answer >"$scratch/$lesson.cu" || return 1
    # shellcheck disable=SC2016
    printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} sh -c '
        VARIANT=$2 DEVICE=$PWD/simulator/run "build/grader/$1" --define VERSION={} --result "$3/version-{}.json" "$3/$1.cu" \
            >"$3/version-{}.txt" 2>&1 </dev/null; true' sh "$lesson" "$word" "$scratch"
    for version; do
        grep -qE '^(PASS|SLOW) ' "$scratch/version-$version.txt" && continue
        echo "$word: version $version of our answer is not right"
        cat "$scratch/version-$version.txt"
        return 1
    done
}

is_gold() {
    grep -q '"gold": true' "$scratch/version-$versions.json" && return
    echo "$word: our answer is not gold"
    return 1
}

# It takes the task to be right.
solution_is_wrong() {
    VARIANT=$word DEVICE=$PWD/simulator/run "build/grader/$lesson" --result "$scratch/solution.json" "solutions/$lesson.cu" \
        >"$scratch/solution.txt" 2>&1 </dev/null
    grep -q '^WRONG ' "$scratch/solution.txt" && tr -s ' \n' '  ' <"$scratch/solution.txt" | grep -qF 'as the lesson itself has it' &&
        return
    echo "$word: the lesson's own solution should be WRONG, and told why"
    cat "$scratch/solution.txt"
    return 1
}

is_as_hard() {
    # shellcheck disable=SC2046
    "build/grader/$lesson" --hold $(seq -f "$scratch/version-%g.json" "$versions") >"$scratch/held.txt" && return
    echo "$word: it is not as hard as the lesson"
    cat "$scratch/held.txt"
    return 1
}

case $what in
answer | handout) "$what" ;;
try | prove)
    scratch=$(mktemp -d) || exit 1
    trap 'rm -rf "$scratch"' EXIT
    versions=$(sed -n 's|^#define VERSION \([0-9]*\).*|\1|p' "solutions/$lesson.cu")
    if [ "$what" = try ]; then grade "$versions" && is_gold && solution_is_wrong
    else
        # shellcheck disable=SC2046
        grade $(seq "$versions") && is_gold && is_as_hard && solution_is_wrong
    fi ;;
esac
