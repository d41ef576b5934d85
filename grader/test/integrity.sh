#!/bin/sh
# Tests `make viva` and `make similar` on a class of lesson 1: the mutants of a file, the questions about them, and which files
# are found to be alike.
set -u
[ -x build/grader/01-first-kernel ] && [ -x build/grader/integrity ] ||
    { echo 'integrity: type make ready-1 build/grader/integrity first'; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
grades=$scratch/grades lesson=01-first-kernel passed=0 failed=0
. grader/holds.sh
refused() { ! "$@" >"$scratch/said" 2>&1; }
says() { grep -q -- "$1" "$scratch/said"; }

# ---- The mutants

complete() { sed '/^[[:space:]]*\/\/[<>|]/d' "solutions/$1.cu"; }
for text in lessons/[0-9]*.md; do
    name=$(basename "$text" .md)
    complete "$name" >"$scratch/complete.cu"
    sh grader/integrity/mutate.sh "$scratch/complete.cu" "$name" >"$scratch/list" 2>&1
    cat "$scratch/list" >>"$scratch/mutants"
    # A changed line has tokens of code that differ, and is no comment.
    awk -F '\t' 'FILENAME == ARGV[1] { line[FNR] = $0; next } line[$1] == $4 || line[$1] ~ /^ *\/\// { print; bad = 1 }
        END { exit bad || FNR < 3 }' "$scratch/complete.cu" "$scratch/list" >"$scratch/same"
    shown=$scratch/same holds "$name: a mutant is its file, or there are none" [ $? -eq 0 ]
done
for rule in $(grep -v '^#' grader/integrity/mutations | cut -d ' ' -f 1 | sort -u); do
    holds "mutations: no line of ours is changed by the rule $rule" grep -q "	$rule	" "$scratch/mutants"
done
complete 08-reduction >"$scratch/08.cu"
sh grader/integrity/mutate.sh "$scratch/08.cu" 08-reduction >"$scratch/list"
barrier=$(grep -n '__syncthreads();' "$scratch/08.cu" | sed -n '1s/:.*//p; 2s/:.*//p' | paste -sd ' ')
holds 'the skeleton'\''s barrier is held to be the student'\''s' grep -q "^${barrier% *}	0	barrier	    ;\$" "$scratch/list"
holds 'the barrier that was to be written is held to be the skeleton'\''s' \
    grep -q "^${barrier#* }	1	barrier	        ;\$" "$scratch/list"

# ---- A class, as grading leaves it

# graded PSEUDONYM FILE
graded() {
    hash=$(sha256sum "$2" | cut -c 1-64)
    mkdir -p "$grades/sealed/$hash/exercises" "$grades/results/$1"
    cp "$2" "$grades/sealed/$hash/exercises/$lesson.cu"
    echo "{\"lesson\": \"$lesson\", \"class\": {\"hash\": \"$hash\"}}" >"$grades/results/$1/$lesson.json"
}
mkdir "$grades"
printf 'a secret of a class that is none' >"$grades/secret"
complete $lesson >"$scratch/ours.cu"
sed 's/device_/gpu_/g; s/blocks/grid/g; s/vector_add_[a-z]*/sum/g' "$scratch/ours.cu" >"$scratch/ours-too.cu"
sed 's/add4/gpu_work/g; s/base/offset/g; s/left/u/g; s/right/v/g; s/must/check/g; s/Four.*/My own idea./' \
    grader/test/integrity/own.cu >"$scratch/renamed.cu"
graded aaaaaaaaaaaa "$scratch/ours.cu"
graded bbbbbbbbbbbb grader/test/integrity/own.cu
graded cccccccccccc "$scratch/renamed.cu"
graded dddddddddddd grader/test/integrity/rewritten.cu
graded eeeeeeeeeeee "$scratch/renamed.cu"
graded ffffffffffff "$scratch/ours-too.cu"

# ---- Three questions

build/grader/integrity --answers -- viva "$grades" bbbbbbbbbbbb 1 >"$scratch/said" 2>&1
shown=$scratch/said holds "a viva ends with $?" [ $? -eq 0 ]
shown=$scratch/said holds 'there are no three questions' \
    [ "$(grep -cE '^[123]\. Line [0-9]+, `.*`, (is deleted|becomes `.*`)\.' "$scratch/said")" -eq 3 ]
holds 'the verdicts do not differ' [ "$(sed -n 's/^   Answer: //p' "$scratch/said" | sort -u | wc -l)" -eq 3 ]
words=$(awk '/^   Answer: STEP/ { print "same" }
    /^   Answer: / { verdict = $2 }
    verdict && $1 == verdict { print "same"; verdict = "" }' "$scratch/said")
holds "an answer is not what the grader said: $words" [ "$(echo "$words" | grep -cx same)" -eq 3 ]
sed -n 's/^[123]\. Line \([0-9]*\), `\(.*\)`, \(is\|becomes\).*/\1 \2/p' "$scratch/said" | while read -r line code; do
    sed -n "${line}p" grader/test/integrity/own.cu | grep -qF -- "$code" || echo "$line: $code"
done >"$scratch/lines"
holds 'a question is not about the line that it names' [ ! -s "$scratch/lines" ]
grep '^[123]\.' "$scratch/said" >"$scratch/first"
touch "$scratch/then"
build/grader/integrity -- viva "$grades" bbbbbbbbbbbb >"$scratch/said" 2>&1
holds 'the same viva has other questions' sh -c "grep '^[123]\.' '$scratch/said' | cmp -s '$scratch/first' -"
holds 'and tells the answers' refused grep -q Answer: "$scratch/said"
holds 'its mutants are graded twice' [ -z "$(find "$grades/viva" -name '*.json' -newer "$scratch/then")" ]

awk -f solutions/strip.awk solutions/$lesson.cu >"$scratch/$lesson.cu"
holds 'an unfinished file has a viva' refused build/grader/integrity --file "$scratch/$lesson.cu" -- viva "$grades"
holds 'and is not told its verdict' says 'its verdict is TODO'
holds 'a student who handed nothing in has a viva' refused build/grader/integrity -- viva "$grades" "O'Brien" 1
holds 'and is not told what to do' says 'Grade the class first'
holds 'a viva of nobody' refused make -s viva
holds 'does not say what to type' says 'make viva GRADES='

# ---- What is alike

cp "$grades/results/aaaaaaaaaaaa/$lesson.json" "$grades/results/aaaaaaaaaaaa/$lesson.7.json" # which line 7 of the log has replaced
holds 'a result that was replaced counts' [ "$(build/grader/integrity list "$grades" | grep -c aaaaaaaaaaaa)" -eq 1 ]
sh grader/integrity/similar.sh "$grades" 1 >"$scratch/said" 2>&1
shown=$scratch/said holds "similar.sh ends with $?" [ $? -eq 0 ]
first() { sed -n '/^  1\./,/^  2\./p' "$scratch/said"; }
holds 'what was renamed is not first' sh -c "grep '^  1\.' '$scratch/said' | grep bbbbbbbbbbbb | grep -q 'cccccccccccc eeee'"
percent() { first | sed -n "s/^ *$1 *\([0-9]*\) %.*/\1/p"; }
holds 'what was renamed is not first by its text' [ "$(percent text)" -ge 60 ]
holds 'what was renamed has other PTX' [ "$(percent PTX)" -eq 100 ]
holds 'the shared lines are not named' sh -c "grep -qE '^     text .* Lines: [0-9]+-[0-9]+ = [0-9]+-[0-9]+' '$scratch/said'"
holds 'what was rewritten is not found by its PTX' grep -q '^  [23]\. .*dddddddddddd' "$scratch/said"
holds 'the same bytes of two are not told' says 'byte for byte ([0-9a-f]*), was handed in by cccccccccccc eeeeeeeeeeee'
holds 'what is ours counts' refused grep -qE 'aaaaaaaaaaaa|ffffffffffff' "$scratch/said"
holds 'the report is not kept' grep -q 'This is no mark' "$grades/similar/$lesson.txt"
holds 'a lesson of which there is nothing is compared' refused sh grader/integrity/similar.sh "$grades" 2

echo "integrity: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
