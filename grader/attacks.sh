#!/bin/sh
# `make attacks-gpu`, on a machine with a GPU: what a submission of grader/attacks/ comes to if the GPU alone judges it. Of the
# simulated device it gets the records of our own solution, so that no check there stops it. It is graded as a class's is, in the
# sandbox, if it states a verdict for that, and else at home (grader/try.sh). What is stated to pass, or not to compile, has nothing to
# land with and is left out. Several run at once: what is timed is not the question here. What says "// alone:" would disturb the
# others, and runs by itself. What the grader itself fails at, or does not end, is graded once more by itself; if that fails, it is not
# judged, nor is what does not compile here. Those whose host works out the answer come last, since timing them takes longest.
#
#     sh grader/attacks.sh [ATTACK...]     05-transpose/cached-answers, say; all, unless told
#
# Adds to profiles/results/MACHINE/attacks.csv, which is committed, a row for each attack, and says it at once; those that are there
# already are not graded again, so that a run that was ended goes on. The last line has the counts: an attack lands if it gets PASS or SLOW.
set -u
here=$PWD/build/attacks
export NO_COLOR=1

stated() { sed -n "s|^// $1: ||p" "$2" | head -n 1; }

# honest LESSON: our own solution on the simulated device.
honest() {
    [ ! -f "$here/honest/$1.json" ] || return 0
    DEVICE=$PWD/simulator/run build/grader/"$1" --result "$here/honest/$1.json" "solutions/$1.cu" >"$here/honest/$1.txt" 2>&1 && return
    rm -f "$here/honest/$1.json"
    echo "solutions/$1.cu does not pass on the simulated device, so the attacks on lesson $1 are not graded"
}

# attack FILE FORM: its row of the table.
attack() {
    lesson=$(basename "$(dirname "$1")") name=$(basename "$1") root=$PWD
    name=${name%.*}
    folder=$here/$lesson/$name
    [ -f "$here/honest/$lesson.json" ] || return 0
    mkdir -p "$folder/exercises"
    rm -f "$folder/result.json"
    sh grader/wrong.sh "$1" >"$folder/exercises/$lesson.cu" || return 0
    word=$(stated expect "$1") sandbox='' seed=$(stated seed "$1")
    [ "$2" = home ] || { word=$(stated class "$1") sandbox=$root/build/grader/sandbox; }
    (cd "$folder" && exec env DEVICE= ${seed:+"SEED=$seed"} ${sandbox:+"WARPWISE_SANDBOX=$sandbox" "WARPWISE_ISOLATION=$ISOLATION"} \
        timeout -k 5 240 "$root/build/grader/$lesson" --result "$folder/result.json" --simulated "$here/honest/$lesson.json" \
        "exercises/$lesson.cu") >"$folder/words.txt" 2>&1 </dev/null
    got=$(sed -n 's/^ "verdict": "\([A-Z-]*\)".*/\1/p' "$folder/result.json" 2>/dev/null)
    lands=no
    case $got in PASS | SLOW) lands=yes ;; esac
    row="$lesson,$name,$2,$word,${got:-none},$lands"
    echo "$row"
    case ${got:-none} in
    GRADER-ERROR | NODEVICE | BUILD | none) sed 's/^/    /' "$folder/words.txt" | tail -n 12 ;;
    *) echo "$row" >>"$TABLE" ;;
    esac
    case ${got:-none} in GRADER-ERROR | none) echo "$1 $2" >>"$here/failed" ;; esac
}

# cases [ATTACK...]: lines "FILE FORM", of what is to be graded.
cases() {
    for file in grader/attacks/*/*; do
        [ "$file" != grader/attacks/own.h ] || continue
        form=class word=$(stated class "$file")
        [ -n "$word" ] || { form=home word=$(stated expect "$file"); }
        name=$(basename "$(dirname "$file")")/$(basename "${file%.*}")
        case $word in PASS | SLOW | STEP* | BUILD) continue ;; esac
        case $form:$word in class:*) turn=1 ;; *:SUSPECT) turn=3 ;; *) turn=2 ;; esac
        case " $* " in '  ' | *" $name "*) echo "$turn $file $form" ;; esac
    done | sort -s -k 1,1 | cut -d ' ' -f 2-
}

# row_of FILE FORM: its row in the table, if there is one.
row_of() { grep "^$(basename "$(dirname "$1")"),$(basename "${1%.*}"),$2," "$TABLE"; }

case ${1:-} in
--honest) honest "$2"; exit ;;
--attack) attack "$2" "$3"; exit 0 ;;
esac

machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | tr 'A-Z ' 'a-z-')
[ -n "$machine" ] || { echo 'There is no GPU here. Type: make doctor'; exit 1; }
ISOLATION=$(build/grader/sandbox --check 2>/dev/null | sed -n 's/^isolation: //p')
TABLE=$PWD/profiles/results/$machine/attacks.csv
export ISOLATION TABLE
mkdir -p "$here/honest" "profiles/results/$machine"
[ -f "$TABLE" ] || echo 'lesson,attack,form,stated,gpu,lands' >"$TABLE"
cases "$@" >"$here/cases"
: >"$here/alone"
: >"$here/failed"
while read -r file form; do
    row_of "$file" "$form" >/dev/null && continue
    if [ -z "$(stated alone "$file")" ]; then echo "$file $form"; else echo "$file $form" >>"$here/alone"; fi
done <"$here/cases" >"$here/left"

# The driver starts processes on a GPU one at a time: more at once only wait.
at_once=$((($(nproc) + 1) / 2))
cat "$here/left" "$here/alone" | cut -d/ -f3 | sort -u | xargs -r -P "$(nproc)" -n 1 sh grader/attacks.sh --honest
GPU_SHARED=1 xargs -r -P "$at_once" -L 1 sh grader/attacks.sh --attack <"$here/left"
cat "$here/failed" >>"$here/alone"
xargs -r -L 1 sh grader/attacks.sh --attack <"$here/alone"

{ head -n 1 "$TABLE" && sed 1d "$TABLE" | LC_ALL=C sort; } >"$here/sorted" && cp "$here/sorted" "$TABLE"
all=$(wc -l <"$here/cases") judged=0 land=0
while read -r file form; do
    row=$(row_of "$file" "$form") || continue
    judged=$((judged + 1))
    case $row in *,yes) land=$((land + 1)) ;; esac
done <"$here/cases"
echo "$TABLE: the sandbox of the class's form keeps apart by: ${ISOLATION:-nothing}"
echo "attacks on the GPU alone: $land land, $((judged - land)) do not, $((all - judged)) not judged"
[ "$judged" -eq "$all" ]
