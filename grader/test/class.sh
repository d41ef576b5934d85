#!/bin/sh
# Tests `make grade` on a class of seven: what is graded and what is refused, the gradebook, and that a run which is killed and begun
# again leaves the same one.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel 02-managed-memory class sandbox

mkdir -p "$class/Ada Lovelace" "$class/Bob" "$class/Cy" "$class/=1+1" "$class/Zoë" "$class/Eve" "$class/Fay"
cp solutions/01-first-kernel.cu "$class/Ada Lovelace"
cp exercises/01-first-kernel.cu "$class/Bob"
echo "#include \"$PWD/solutions/01-first-kernel.cu\"" >"$class/=1+1/01-first-kernel.cu"
cat >"$class/Cy/01-first-kernel.cu" <<'CU'
#include "01-first-kernel.h"
#include <signal.h>
void vector_add(float *, const float *, const float *, int) { raise(SIGFPE); }
CU
sh grader/wrong.sh grader/wrong/01-first-kernel/block-too-large.edit >"$class/Eve/01-first-kernel.cu"
sh grader/wrong.sh grader/wrong/01-first-kernel/bytes-forgotten.edit >"$class/Fay/01-first-kernel.cu"
ln -s /etc/passwd "$class/Zoë/01-first-kernel.cu"
: >"$class/Zoë/02-managed-memory.cu"
mkfifo "$class/Zoë/03-grids-and-indexing.cu"
truncate -s 10G "$class/Zoë/04-roofline.cu"
mkdir "$class/Zoë/05-transpose.cu"
echo notes >"$class/Zoë/notes.txt"
echo '#error of a lesson that is not there' >"$class/Zoë/99-none.cu"
echo 'a file beside the folders' >"$class/README"

build/grader/class "$class" "$grades" >"$scratch/said" 2>&1
status=$?
holds "ends with $status: $(cat "$scratch/said")" [ $status -eq 0 ]
row() { grep -q -- "^$1" "$grades/gradebook.csv"; }
holds 'a right answer has no 10 points' row 'Ada Lovelace,01-first-kernel,PASS,2,10,,,yes,[0-9a-f]\{64\},,[0-9.]*,[0-9.]*,h200,1:[^,]*:PASS:10:[0-9a-f]*,,$'
holds 'an untouched exercise is no TODO' row 'Bob,01-first-kernel,TODO,,0,,,yes,'
holds 'our answer can be included, or a formula is a cell' row "\"'=1+1\",01-first-kernel,BUILD,,0,,,yes,"
holds 'a signal in the sandbox is no CRASH' row 'Cy,01-first-kernel,CRASH,,0,,,yes,'
holds 'the end after a refused launch is no CRASH' row 'Eve,01-first-kernel,CRASH,,0,,,yes,'
holds 'a link is followed' row 'Zoë,01-first-kernel,REFUSED,,0,,,no,,it is a link,'
holds 'an empty file is no BUILD' row 'Zoë,02-managed-memory,BUILD,'
holds 'a pipe is read' row 'Zoë,03-grids-and-indexing,REFUSED,.*regular'
holds 'a file of 10 GB is read' row 'Zoë,04-roofline,REFUSED,.*10737418240 bytes'
holds 'a folder is taken for a file' row 'Zoë,05-transpose,REFUSED,.*regular'
holds 'what was not handed in has no row' row 'Bob,02-managed-memory,MISSING,,0,,,no,,,,,,,,$'
holds "a row for each student and lesson, and none besides: $(wc -l <"$grades/gradebook.csv")" [ "$(wc -l <"$grades/gradebook.csv")" -eq 36 ]
holds 'a file beside the folders is passed over in silence' grep -q 'Not looked at.*: README$' "$scratch/said"
holds "others can read $(others_can | head -n 4 | xargs)" [ -z "$(others_can)" ]
holds 'a name is in a file of the results' [ -z "$(grep -rl -e Ada -e Zoë "$grades" | grep -v -e pseudonyms.csv -e gradebook.csv -e marks.csv)" ]
holds 'a path of this machine is in a result' [ -z "$(grep -rl "$scratch" "$grades/results")" ]
holds 'the words are not those that the student saw' grep -qr 'exercises/01-first-kernel.cu:[0-9]* is yours to write' "$grades/results"
holds 'a call has no line in the sandbox' grep -qr 'multiply by sizeof in line [0-9]' "$grades/results"
holds 'of an untouched exercise it is told how far it is' [ -z "$(grep -rl 'What is there so far' "$grades/results")" ]
holds 'the cause of an error has no name' grep -qr '"cause": "launch_block_too_large"' "$grades/results"
holds 'a result is not as its schema says' python3 grader/test/schema.py --changed grader/result.schema.json "$grades"/results/*/*.json

# The same class again: nothing is graded twice, and what has changed is.
touch "$scratch/then"
build/grader/class "$class" "$grades" >/dev/null 2>&1
holds 'is graded twice' [ -z "$(find "$grades/results" -name '*.json' -newer "$scratch/then")" ]
cp solutions/01-first-kernel.cu "$class/Bob"
build/grader/class "$class" "$grades" >/dev/null 2>&1
holds 'a newer file is not graded' row 'Bob,01-first-kernel,PASS,2,10,'

# Killed at any moment, a run goes on where it was, and ends with the same gradebook.
for seconds in 0.3 1.2 2.5; do
    mkdir "$scratch/$seconds"
    cp "$grades/secret" "$scratch/$seconds"
    build/grader/class "$class" "$scratch/$seconds" >/dev/null 2>&1 &
    sleep "$seconds"
    kill -KILL $! 2>/dev/null # it may have ended on a fast machine
    wait $! 2>/dev/null
    build/grader/class "$class" "$scratch/$seconds" >/dev/null 2>&1
    holds "killed after $seconds s: another gradebook" cmp -s "$grades/gradebook.csv" "$scratch/$seconds/gradebook.csv"
done

mkdir "$scratch/locked"
holds 'two runs grade into one folder' refused flock "$scratch/locked" build/grader/class "$class" "$scratch/locked"
holds 'and are not told so' grep -q 'another run is grading' "$scratch/said"

# Where namespaces are refused: nothing is graded unless told, and the marks that are made then say what they are worth.
gcc -O1 -o "$scratch/calls" grader/test/sandbox/calls.c -lseccomp || exit 1
mkdir -p "$scratch/small/Ada"
cp solutions/01-first-kernel.cu "$scratch/small/Ada"
less=$scratch/less level=no
[ "$(id -u)" != 0 ] || level=user
book() { grep -q "^Ada,01-first-kernel,$1" "$less/gradebook.csv"; }
holds 'a class is graded without a sandbox' refused "$scratch/calls" contained build/grader/class "$scratch/small" "$less"
holds 'and is not told how to go on' grep -q 'UNTRUSTED=1 grades all the same' "$scratch/said"
holds 'a row that was not graded has a mark' book ',,,,,no,'
UNTRUSTED=1 "$scratch/calls" contained build/grader/class "$scratch/small" "$less" >/dev/null 2>&1
holds "graded all the same: $(tail -n 1 "$less/gradebook.csv")" book "PASS,2,10,,,$level,"
"$scratch/calls" contained build/grader/class "$scratch/small" "$less" >/dev/null 2>&1
holds "a mark that is not trusted is entered: $(tail -n 1 "$less/gradebook.csv")" book "UNTRUSTED,,,,,$level,"
build/grader/class "$scratch/small" "$less" >/dev/null 2>&1
holds 'is not graded again where it can be trusted' book 'PASS,2,10,,,yes,'
result=$(find "$less/results" -name 01-first-kernel.json)
holds 'the build has no hash' grep -qE '"build": "[0-9a-f]{64}"' "$result"

# No more than in namespaces does a submission see our answer there, when it is compiled or when it runs.
mkdir -p "$scratch/sight/Bob" "$scratch/sight/Eve"
cp "$class/=1+1/01-first-kernel.cu" "$scratch/sight/Eve"
cat solutions/01-first-kernel.cu - >"$scratch/sight/Bob/01-first-kernel.cu" <<CU
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void look() { if (fopen("$PWD/solutions/01-first-kernel.cu", "r")) abort(); }
CU
less=$scratch/seen
UNTRUSTED=1 "$scratch/calls" contained build/grader/class "$scratch/sight" "$less" >/dev/null 2>&1
holds "our answer is in sight: $(cat "$less/gradebook.csv")" [ "$(cut -d, -f1-3,8 "$less/gradebook.csv" | tail -n +2 | tr '\n' ' ')" = \
    "Bob,01-first-kernel,PASS,$level Eve,01-first-kernel,BUILD,$level " ]

# The same with another simulated device.
mkdir "$scratch/simulator"
printf '#!/bin/sh\nexec "%s/simulator/run" "$@"\n' "$PWD" >"$scratch/simulator/run"
chmod +x "$scratch/simulator/run"
less=$scratch/other
DEVICE=simulator/run build/grader/class "$scratch/small" "$less" >/dev/null 2>&1
holds 'our own device is not trusted' book 'PASS,2,10,,,yes,'
less=$scratch/another
DEVICE=$scratch/simulator/run holds 'another device grades' refused build/grader/class "$scratch/small" "$less"
holds 'and is not named' grep -q "DEVICE names $scratch/simulator/run" "$scratch/said"
DEVICE=$scratch/simulator/run UNTRUSTED=1 build/grader/class "$scratch/small" "$less" >/dev/null 2>&1
holds 'another device is trusted' book 'PASS,2,10,,,no,'

# Files that take the compiler's memory or its disk get a verdict, and within its limits.
mkdir -p "$scratch/bombs/endless" "$scratch/bombs/large" "$scratch/bombs/long"
printf '#include "01-first-kernel.h"\n#include "/dev/zero"\n' >"$scratch/bombs/endless/01-first-kernel.cu"
printf '#include "01-first-kernel.h"\nint large[1ull << 36] = { 1 };\n' >"$scratch/bombs/large/01-first-kernel.cu"
printf '#include "01-first-kernel.h"\nasm(".rept 2000000000\\n .quad 1\\n .endr");\n' >"$scratch/bombs/long/01-first-kernel.cu"
build/grader/class "$scratch/bombs" "$scratch/bombed" >/dev/null 2>&1
holds "no BUILD: $(cat "$scratch/bombed/gradebook.csv")" [ "$(grep -c ',01-first-kernel,BUILD,,0,,,yes,' "$scratch/bombed/gradebook.csv")" -eq 3 ]

# Words that are no folders: which are options, and what these take.
while read -r told wrong; do
    # shellcheck disable=SC2086
    build/grader/class $wrong >"$scratch/said" 2>&1
    holds "$wrong: is taken for a class" [ $? -eq 2 ]
    holds "$wrong: is told: $(cat "$scratch/said")" grep -qxF -- "class: $(echo "$told" | tr _ ' ')" "$scratch/said"
done <<'WORDS'
--slurm_takes_SUBMISSIONS_and_GRADES --slurm x
--slurm_takes_SUBMISSIONS_and_GRADES --slurm
--slurm_takes_SUBMISSIONS_and_GRADES --slurm x y z
--batch_takes_a_file_and_GRADES --batch x y z
--gradescope_takes_a_folder_and_GRADES --gradescope x
there_is_no_option_--slrum._A_folder_of_that_name_is_./--slrum --slrum x y
there_is_no_option_-h._A_folder_of_that_name_is_./-h -h x
there_is_no_option_-._A_folder_of_that_name_is_./- - x
there_is_no_option_--sl._A_folder_of_that_name_is_./--sl --sl
WORDS
mkdir -p "$scratch/-h/Ada"
: >"$scratch/-h/Ada/01-first-kernel.cu"
(cd "$scratch" && ln -s "$OLDPWD"/build "$OLDPWD"/lessons "$OLDPWD"/VERSION . && build/grader/class ./-h ./-g) >"$scratch/said" 2>&1
holds "a folder of an option's name is not graded: $(cat "$scratch/said")" grep -q '^Ada,01-first-kernel,' "$scratch/-g/gradebook.csv"

# No class, and none to grade.
holds 'a folder that is not there is graded' refused build/grader/class "$scratch/none" "$scratch/empty"
mkdir "$scratch/nobody"
holds 'nobody is graded' refused build/grader/class "$scratch/nobody" "$scratch/empty"
holds 'and not told what should be there' grep -q 'a folder for each student' "$scratch/said"
holds 'without a folder it works' refused make -s grade
holds 'and does not say what to type' grep -q 'make grade SUBMISSIONS=' "$scratch/said"

finish
