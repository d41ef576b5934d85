#!/bin/sh
# `make attacks-gpu`, on a machine with a GPU: what each submission of grader/attacks/ comes to if the GPU alone judges it. Of the
# simulated device it gets the records of our own solution, so that no check there stops it. Each is graded in the forms that it
# states (grader/try.sh): at home, and in the sandbox, as a class's submissions are. Several run at once: what is timed is not the
# question here. Where the grader itself fails they are run once more, each alone.
#
#     sh grader/attacks.sh [SECONDS]     600 unless told: what was not graded by then is told
#
# Writes profiles/results/MACHINE/attacks.csv, which is committed, and prints which attacks land: PASS or SLOW, where neither is stated.
# The last line has the counts.
set -u
here=$PWD/build/attacks
export NO_COLOR=1 GPU_SHARED=1

stated() { sed -n "s|^// $1: ||p" "$2" | head -n 1; }

# What says nothing of an attack: the grader, or the machine, has failed.
failure='(GRADER-ERROR|NODEVICE|none)'

# honest LESSON: our own solution on the simulated device.
honest() {
    DEVICE=$PWD/simulator/run build/grader/"$1" --result "$here/honest/$1.json" "solutions/$1.cu" >"$here/honest/$1.txt" 2>&1 && return
    rm -f "$here/honest/$1.json"
    echo "solutions/$1.cu does not pass on the simulated device, so the attacks on lesson $1 are not graded"
}

# attack FILE FORM: its row of the table, unless it is too late.
attack() {
    lesson=$(basename "$(dirname "$1")") name=$(basename "$1") root=$PWD
    name=${name%.*}
    folder=$here/$lesson/$name.$2
    [ -f "$here/honest/$lesson.json" ] && [ "$(date +%s)" -lt "$UNTIL" ] || return
    mkdir -p "$folder/exercises"
    sh grader/wrong.sh "$1" >"$folder/exercises/$lesson.cu" || return
    word=$(stated expect "$1") sandbox='' seed=$(stated seed "$1")
    [ "$2" = home ] || { word=$(stated class "$1") sandbox=$root/build/grader/sandbox; }
    (cd "$folder" && exec env DEVICE= ${seed:+"SEED=$seed"} ${sandbox:+"WARPWISE_SANDBOX=$sandbox" "WARPWISE_ISOLATION=$ISOLATION"} \
        timeout -k 5 200 "$root/build/grader/$lesson" --result "$folder/result.json" --simulated "$here/honest/$lesson.json" \
        "exercises/$lesson.cu") >"$folder/words.txt" 2>&1 </dev/null
    got=$(sed -n 's/^ "verdict": "\([A-Z-]*\)".*/\1/p' "$folder/result.json" 2>/dev/null)
    lands=no
    case $word:$got in PASS:* | SLOW:* | STEP*) ;; *:PASS | *:SLOW) lands=yes ;; esac
    echo "$lesson,$name,$2,$word,${got:-none},$lands" >"$here/rows/$lesson.$name.$2"
}

case ${1:-} in
honest) honest "$2"; exit ;;
attack) attack "$2" "$3"; exit ;;
esac

machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | tr 'A-Z ' 'a-z-')
[ -n "$machine" ] || { echo 'There is no GPU here. Type: make doctor'; exit 1; }
UNTIL=$(($(date +%s) + ${1:-600}))
ISOLATION=$(build/grader/sandbox --check 2>/dev/null | sed -n 's/^isolation: //p')
export UNTIL ISOLATION
rm -rf "$here"
mkdir -p "$here/honest" "$here/rows" "profiles/results/$machine"
for file in grader/attacks/*/*; do
    ! grep -q '^// expect: ' "$file" || echo "$file home"
    ! grep -q '^// class: ' "$file" || echo "$file class"
done >"$here/cases"

cut -d/ -f3 "$here/cases" | sort -u | xargs -P "$(nproc)" -n 1 sh grader/attacks.sh honest
xargs -r -P "$(nproc)" -L 1 sh grader/attacks.sh attack <"$here/cases"
grep -lE ",$failure," "$here"/rows/* 2>/dev/null >"$here/failed"
while read -r row; do
    rm "$row"
    grep -E "$(basename "$row" | sed 's|\([^.]*\)\.\([^.]*\)\.\(.*\)|/\1/\2\\.[a-z]* \3$|')" "$here/cases"
done <"$here/failed" >"$here/again"
xargs -r -L 1 sh grader/attacks.sh attack <"$here/again"

table=profiles/results/$machine/attacks.csv
{
    echo 'lesson,attack,form,stated,gpu,lands'
    cat "$here"/rows/* 2>/dev/null
} >"$table"
sed -n 's/,yes$//p' "$table" | while IFS=, read -r lesson name form word got; do
    echo "lands: $lesson/$name, $form: $got, and on the simulated device $word"
done
all=$(wc -l <"$here/cases") judged=$(grep -cvE "^lesson,|,$failure," "$table") land=$(grep -c ',yes$' "$table")
echo "$table: the sandbox of the class's form keeps apart by: ${ISOLATION:-nothing}"
echo "attacks on the GPU alone: $land land, $((judged - land)) do not, $((all - judged)) not judged"
[ "$judged" -eq "$all" ]
