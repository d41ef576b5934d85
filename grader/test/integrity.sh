#!/bin/sh
# Tests `make viva` and `make similar` on a class of lesson 1: the mutants of a file, the questions about them, and which files
# are found to be alike.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel integrity
lesson=01-first-kernel
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

# graded PSEUDONYM FILE [VARIANT]
graded() {
    umask 077 # as build/grader/class does
    hash=$(sha256sum "$2" | cut -c 1-64)
    mkdir -p "$grades/sealed/$hash/exercises" "$grades/results/$1"
    cp "$2" "$grades/sealed/$hash/exercises/$lesson.cu"
    echo "{\"lesson\": \"$lesson\", \"class\": {\"hash\": \"$hash\"}${3:+, \"variant\": \"$3\"}}" >"$grades/results/$1/$lesson.json"
    umask 022
}
mkdir -m 700 "$grades"
(umask 077 && printf 'a secret of a class that is none' >"$grades/secret")
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
awk -f solutions/strip.awk solutions/$lesson.cu >"$scratch/$lesson.cu"
graded 999999999998 "$scratch/$lesson.cu"
graded 999999999999 "$scratch/$lesson.cu"

# ---- Three questions

build/grader/integrity --answers -- viva "$grades" bbbbbbbbbbbb 1 >"$scratch/said" 2>&1
shown=$scratch/said holds "a viva ends with $?" [ $? -eq 0 ]
shown=$scratch/said holds 'there are no three questions' \
    [ "$(grep -cE '^[123]\. Line [0-9]+, `.*`, (is deleted|becomes `.*`)\.' "$scratch/said")" -eq 3 ]
holds 'the verdicts do not differ' [ "$(sed -n 's/^   Answer: //p' "$scratch/said" | sort -u | wc -l)" -eq 3 ]
words=$(awk '/^   Answer: / { verdict = $2 }
    verdict && $1 == verdict { print "same"; verdict = "" }' "$scratch/said")
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
cp "$scratch/said" "$scratch/similar"
shown=$scratch/said holds "similar.sh ends with $?" [ $? -eq 0 ]
holds 'the same bytes of two are not the first finding' says '^  1\. [0-9a-f]\{12\} is the same, byte for byte, from cccccccccccc, eeeeeeeeeeee$'
holds 'what is our solution is not told' says '^  2\. [0-9a-f]\{12\} is our solution, byte for byte: from aaaaaaaaaaaa$'
holds 'an untouched skeleton is a finding' says '^Untouched ([0-9a-f]\{12\}): from 999999999998, 999999999999\.$'
first() { sed -n '/^  3\./,/^  4\./p' "$scratch/said"; }
holds 'what was renamed is not the first pair' sh -c "grep '^  3\.' '$scratch/said' | grep bbbbbbbbbbbb | grep -q 'cccccccccccc eeee'"
percent() { first | sed -n "s/^ *$1 *\([0-9]*\) %.*/\1/p"; }
holds 'what was renamed is not first by its text' [ "$(percent text)" -ge 60 ]
holds 'what was renamed has other PTX' [ "$(percent PTX)" -eq 100 ]
holds 'the shared lines are not named' sh -c "grep -qE '^     text .* Lines: [0-9]+-[0-9]+ = [0-9]+-[0-9]+' '$scratch/said'"
holds 'what was rewritten is not found by its PTX' grep -q '^  [45]\. .*dddddddddddd' "$scratch/said"
holds 'what is ours is in a pair' refused grep -E '(aaaaaaaaaaaa|ffffffffffff|99999).* and |and .*(aaaaaaaaaaaa|ffffffffffff|99999)' "$scratch/similar"
holds 'the report is not kept' grep -q 'This is no mark' "$grades/similar/$lesson.txt"
holds 'a lesson of which there is nothing is compared' refused sh grader/integrity/similar.sh "$grades" 2

holds "others can read $(others_can | head -n 4 | xargs)" [ -z "$(others_can)" ]

# Our answer to a class's variant is ours, also with other names.
lesson=08-reduction
sh grader/variant.sh answer $lesson farthest-48-a177 >"$scratch/answer.cu"
graded aaaaaaaaaaaa "$scratch/answer.cu" farthest-48-a177
sed 's/partial/tile/g; s/add_sums/second/g; s/stride/half/g' "$scratch/answer.cu" >"$scratch/answer-too.cu"
graded bbbbbbbbbbbb "$scratch/answer-too.cu" farthest-48-a177
sh grader/integrity/similar.sh "$grades" 8 >"$scratch/said" 2>&1
# shellcheck disable=SC2034
shown=$scratch/said
holds 'our answer to the variant is not told' says '^  1\. [0-9a-f]* is our answer to farthest-48-a177, byte for byte: from aaaaaaaaaaaa$'
holds 'our answer to the variant counts' says '^No two different files share anything'

# ---- What is asked, in a tree whose grader sees a few of the changes

tree=$scratch/tree here=$PWD lesson=01-one grades=$scratch/asked
mkdir -p "$tree/lessons" "$tree/solutions" "$tree/build/grader" "$grades"
ln -s "$PWD/grader" "$PWD/VERSION" "$tree"
ln -s "$PWD/build/grader/sandbox" "$tree/build/grader"
cp solutions/strip.awk "$tree/solutions"
: >"$tree/lessons/$lesson.md"
: >"$tree/solutions/$lesson.cu"
cat >"$tree/build/grader/$lesson" <<'SH'
#!/bin/sh
verdict=SLOW step=1
grep -q '<= n' "$3" && verdict=BOUNDS step=null
grep -q 'sum = 1' "$3" && verdict=PASS step=2
grep -q 'half /= 4' "$3" && step=0
grep -q '^ *;' "$3" && verdict=BUILD step=null
echo "{\"number\": 1, \"verdict\": \"$verdict\", \"score\": {\"step\": $step}}" >"$2"
echo "$verdict in words"
SH
chmod +x "$tree/build/grader/$lesson"
cat >"$scratch/slow.cu" <<'CU'
void f()
{
    int none = 0;
    int sum = 0;
    for (int half = 8; half > 0; half /= 2)
        none += 1;
    if (i < n)
        g[threadIdx.x] = none;
    __syncthreads();
}
CU
printf 'a secret of a class that is none' >"$grades/secret"
graded aaaaaaaaaaaa "$scratch/slow.cu"
sed 's/int sum/float sum/; s/if (i < n)/if (i)/' "$scratch/slow.cu" >"$scratch/few.cu"
graded bbbbbbbbbbbb "$scratch/few.cu"
ask() { (cd "$tree" && "$here/build/grader/integrity" --answers -- viva "$grades" "$1" 1) >"$scratch/said" 2>&1; }
holds 'a right file below the last step has no viva' ask aaaaaaaaaaaa
holds 'its own verdict is not told' says 'which is SLOW at step 1$'
holds "the answers are not the three that differ: $(grep Answer "$scratch/said")" \
    [ "$(sed -n 's/^   Answer: //p' "$scratch/said" | sort | paste -sd ,)" = 'BOUNDS,PASS at step 2,SLOW at step 0' ]
holds 'two changes that are seen are three questions' refused ask bbbbbbbbbbbb
holds 'and it is not said what lacks' grep -q 'of [0-9]* changes, fewer than three lead to another verdict' "$scratch/said"

finish
