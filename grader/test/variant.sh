#!/bin/sh
# Tests `make variant`: which variant of a lesson a class has, what students get, and a class with one that is graded from start to
# end. That each row of each lesson can be done, grader/try.sh tests.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel 07-stencil 08-reduction 09-scan class integrity sandbox
lesson=08-reduction
unset VARIANT
# What the compiler need not read (grader/try.sh).
lean="${NVCC_APPEND_FLAGS:-} -D_GLIBCXX_BITS_SPECFUN_H -DCCCL_DISABLE_FP16_SUPPORT"
export NVCC_APPEND_FLAGS="$lean"

# shellcheck disable=SC2034
shown=$scratch/said
: >"$shown"
says() { tr -s ' \n' '  ' <"$scratch/said" | grep -qF -- "$1"; }
fails() {
    words=$1
    shift
    "$@" >"$scratch/said" 2>&1
    holds "$words" [ $? -ne 0 ]
}

# ---- The word

# A word for each of 64 drawn numbers: every row and each end of C occurs, and the same number gives the same word.
words() {
    for n in $(seq 64); do
        "build/grader/$1" --variant "$(printf 'variant %d' "$n" | sha256sum | cut -c1-16)" | head -n 1
    done
}
for one in 07-stencil 08-reduction 09-scan; do
    words $one >"$scratch/words"
    rows=$(sed -n 's/^VARIANT(\([a-z]*\),.*/\1/p' grader/variants/$one/rows.def)
    [ -n "$rows" ] || rows=$(sed -n 's/^VARIANT(\([a-z]*\),.*/\1/p' grader/variants/08-reduction/rows.def)
    for row in $rows; do holds "$one: $row never occurs" grep -q "^$row-" "$scratch/words"; done
    holds "$one: two of 64 classes have the same sizes" [ "$(sed 's/.*-//' "$scratch/words" | sort | uniq -d | wc -l)" -le 1 ]
    words $one | cmp -s - "$scratch/words"
    holds "$one: the same number gives another variant" [ $? -eq 0 ]
done
# shellcheck disable=SC2046
holds 'a word that was drawn is not known' build/grader/08-reduction --variant "$(build/grader/08-reduction --variant 0123456789abcdef | head -n 1)" >"$scratch/said"
for word in sum-7-3f2a squares-1-3f2a squares-100-3f2a squares-07-3f2a squares-7-3f2 squares-7-3F2A squares--7-3f2a squares \
    squares-7-3f2a-3f2a; do
    fails "$word is a variant" env "VARIANT=$word" build/grader/$lesson solutions/$lesson.cu
    holds 'and what there is is not said' says 'farthest-C-SIZE'
done
fails 'lesson 1 has variants' env VARIANT=squares-7-3f2a build/grader/01-first-kernel solutions/01-first-kernel.cu
holds 'and which lessons have some is not said' says 'Lesson 1 has no variants. Lessons that have some: 7 8 9'

# size_of WORD: of the first call that the published solution fails at.
size_of() {
    VARIANT=$1 DEVICE=$PWD/simulator/run build/grader/$lesson --check primes --result "$scratch/size.json" solutions/$lesson.cu >"$scratch/said" 2>&1
    grep -o 'n = [0-9]*' "$scratch/said"
}
holds 'two words with other last digits have the same sizes' [ "$(size_of squares-7-0001)" != "$(size_of squares-7-0002)" ]

# ---- Of a class: the same secret, the same variant. The proof is made up here, and comes below.

tree=$scratch/tree
mkdir -p "$tree/grader" "$grades"
for part in build lessons VERSION grader/variants; do ln -s "$PWD/$part" "$tree/$part"; done
cat >"$tree/grader/variant.sh" <<'SH'
[ "$1" = prove ] && { [ ! -f refused ]; exit; }
echo "$3"
SH
# of_secret NUMBER [MORE]: the variant of lesson 8, of a class that has also one of the lessons that are named.
of_secret() {
    rm -rf "$scratch/of"
    mkdir "$scratch/of"
    echo "variants = ( ${2:-}\"$lesson\" );" >"$scratch/of/class.cfg"
    printf '%032d' "$1" >"$scratch/of/secret"
    (cd "$tree" && build/grader/class variant "GRADES=$scratch/of") >"$scratch/said" 2>&1 && cat "$scratch/of/variants/$lesson.cu"
}
for n in $(seq 24); do of_secret "$n"; done >"$scratch/words"
holds 'a secret has no variant' [ "$(wc -l <"$scratch/words")" -eq 24 ]
for row in squares distances excess farthest; do holds "of 24 classes none has $row" grep -q "^$row-" "$scratch/words"; done
holds 'two of 24 classes have the same variant' [ -z "$(sort "$scratch/words" | uniq -d)" ]
holds 'the same secret has another variant' [ "$(of_secret 7)" = "$(sed -n 7p "$scratch/words")" ]
holds 'a class with two variants has another one of lesson 8' [ "$(of_secret 7 '"07-stencil", ')" = "$(sed -n 7p "$scratch/words")" ]
holds 'and none of lesson 7' build/grader/07-stencil --variant "$(cat "$scratch/of/variants/07-stencil.cu")" >"$scratch/said"
touch "$tree/refused"
fails 'what cannot be proven is a variant' of_secret 1
holds 'and is written' [ ! -e "$scratch/of/variants/$lesson.cu" ]

# ---- What is refused

variant() { build/grader/class variant "GRADES=$grades" "$@" >"$scratch/said" 2>&1; }
fails 'a class that names no lesson has a variant' variant
holds 'and what to write is not said' says 'variants = ( "08-reduction" );'
echo 'variants = ( "01-first-kernel" );' >"$grades/class.cfg"
fails 'lesson 1 has a variant' variant
holds 'and which lessons have some is not said' says 'class.cfg:1: 01-first-kernel has no variants. Lessons that have some are in grader/variants'
echo "variants = ( \"$lesson\" );" >"$grades/class.cfg"
fails 'a lesson that class.cfg does not name has one' variant LESSON=9
holds 'and which it is is not said' says 'the class has no variant of 09-scan'
fails 'a lesson that is not there has one' variant LESSON=99
holds 'and is not named' says 'There is no lesson 99'
holds 'a secret was made for nothing' [ ! -e "$grades/secret" ]

# ---- What students get

printf '%032d' 5 >"$grades/secret"
chmod 600 "$grades/secret"
NVCC_APPEND_FLAGS="$lean -include $PWD/simulator/test/no_chrono.h"
holds 'make variant fails' variant LESSON=8
NVCC_APPEND_FLAGS=$lean
handout=$grades/variants/$lesson.cu
word=$(sed -n '1s/.*: //p' "$handout")
holds "the word is that of another secret: $word" [ "$word" = "$(sed -n 5p "$scratch/words")" ]
awk -f solutions/strip.awk solutions/$lesson.cu >"$scratch/skeleton"
sed '/^\/\/ Lesson 8: /,$!d' "$handout" | cmp -s - "$scratch/skeleton"
holds 'what follows the task is not the skeleton' [ $? -eq 0 ]
holds 'the task is not said' grep -qF "$(build/grader/$lesson --variant "$word" | sed -n '2s/ over.*//p')" "$handout"
holds 'the command is not said' grep -qF "make lesson-8 VARIANT=$word" "$handout"
holds 'a line is too wide' [ -z "$(sed -n '/^\/\/ Lesson 8: /q; /.\{100\}/p' "$handout")" ]

# ---- A class that has it

mkdir -p "$class/Ada" "$class/Bob" "$class/Cy" "$class/Dora"
sh grader/variant.sh answer $lesson "$word" >"$class/Ada/$lesson.cu"
cp solutions/$lesson.cu "$class/Bob"
sed 's/^#define VERSION 6/#define VERSION 2/' "$class/Ada/$lesson.cu" >"$class/Cy/$lesson.cu"
sed 's/stride > 0; stride/stride > 1; stride/; s/^#define VERSION 6/#define VERSION 2/' "$class/Ada/$lesson.cu" >"$class/Dora/$lesson.cu"
grade() { build/grader/class "$class" "$grades" >"$scratch/said" 2>&1; }
row() { grep -q -- "^$1" "$grades/gradebook.csv"; }
words_of() { tr -s " '\n" '   ' <"$grades/results/$(sed -n "s/,$1\$//p" "$grades/pseudonyms.csv")/$lesson.txt"; }
holds 'the class is not graded' grade
holds 'our answer is not gold' row "Ada,$lesson,PASS,2,10,yes,.*,8+$word:[^,]*:PASS:10:[0-9a-f]*,$word,\$"
holds 'the published solution is right' row "Bob,$lesson,WRONG,,0,.*,$word,\$"
holds 'and is not told why' sh -c "echo '$(words_of Bob)' | grep -qF 'That is the sum of all elements, as the lesson itself has it'"
holds 'and which variant is not said' sh -c "echo '$(words_of Bob)' | grep -qF 'make lesson-8 VARIANT=$word'"
holds 'version 2 is not on step 1' row "Cy,$lesson,SLOW,1,7,"
holds 'a tree that stops early is right' row "Dora,$lesson,WRONG,"
holds 'and is taken for the published solution' sh -c "! echo '$(words_of Dora)' | grep -qF 'as the lesson itself has it'"
sizes=$(grep -rho 'n = [0-9]*' "$grades/results" | sed 's/n = //' | sort -un | awk '$1 >= 700000 && $1 <= 1040000' | xargs)
holds "the checks have the lesson's own sizes: $sizes" [ -n "$sizes" -a "$sizes" != 1000003 ]
holds "others can read $(others_can | head -n 4 | xargs)" [ -z "$(others_can)" ]
holds 'what students get can be copied by nobody' [ "$(stat -c %a "$handout")" = 644 ]
holds 'the secret is told' [ -z "$(grep -rl "$(od -An -tx1 "$grades/secret" | tr -d ' \n' | cut -c1-16)" "$grades" | grep -v /secret)" ]

token=$(sed -n "s/^Cy,.*,\(8+[^,]*\),.*/\1/p" "$grades/gradebook.csv")
holds 'the token is not replayed' sh -c "make -s replay 'TOKEN=$token' 'FILE=$class/Cy/$lesson.cu' >'$scratch/said' 2>&1"
holds 'and its variant is not said' says "lesson 8 ($word): right"
fails 'a viva asks about a file that is wrong in the class' build/grader/integrity viva "$grades" Bob 8
holds 'and is graded as the lesson itself' says 'its verdict is WRONG'

# Without its variant the lesson is graded anew, and the results of the variant stay.
rm -r "$class/Ada" "$class/Cy" "$class/Dora"
: >"$grades/class.cfg"
export VARIANT="$word" # of the instructor's shell
holds 'the class is not graded as the lesson itself' grade
holds 'the published solution is not right there' row "Bob,$lesson,PASS,2,10,yes,.*,8:[^,]*,,\$"
holds 'the result of the variant is lost' sh -c "grep -q '\"variant\": \"$word\"' '$grades'/results/*/$lesson.????????????.json"

finish
