#!/bin/sh
# Tests `make grade` on what is hard to read, to name or to run: each gives a row with its verdict, and the others are graded.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel class

mkdir "$class" "$grades"
LC_ALL=C.UTF-8 python3 -B grader/test/class/hostile.py "$class" || exit 1
mkdir "$scratch/large" && truncate -s 10G "$scratch/large/01-first-kernel.cu"
tar -cSf "$class/sparse tar.tar" -C "$scratch/large" 01-first-kernel.cu
tar -cSf "$class/sparse pax.tar" --format=posix -C "$scratch/large" 01-first-kernel.cu
printf x >>"$scratch/large/01-first-kernel.cu"
tar -cSf "$class/sparse end.tar" -C "$scratch/large" 01-first-kernel.cu

cp solutions/01-first-kernel.cu "$scratch/01-first-kernel.cu"
truncate -s 500K "$scratch/01-first-kernel.cu" # the hole is zeros, which the compiler passes over
tar -cSf "$class/hole.tar" -C "$scratch" 01-first-kernel.cu
build/grader/class "$class" "$grades" >"$scratch/said" 2>&1
status=$?
holds "ends with $status: $(cat "$scratch/said")" [ $status -eq 0 ]
book=$grades/gradebook.csv
row() { grep -q -- "^$1,01-first-kernel,$2" "$book"; }
while read -r verdict student; do
    holds "$student: $(grep -F -- "$student" "$book" | head -n 1)" row "$student" "$verdict,"
done <<'ROWS'
BUILD zero bytes
BUILD NUL bytes
PASS CRLF
PASS BOM
BUILD UTF-16
PASS Zoë Ångström
PASS rar
PASS seven
BUILD علي
BUILD דוד
BUILD さくら
BUILD 한글
BUILD "'=cmd()"
BUILD "'-rf"
BUILD "'+1"
BUILD "'@x"
BUILD "a""b"
BUILD c'd
BUILD "e,f"
BUILD g h
BUILD ?turned
BUILD $(touch x)
BUILD %n%s
BUILD a|b;c&d
BUILD ~
BUILD \*
BUILD Latin-1 ?
BUILD long x*
BUILD full
BUILD thousand
BUILD messages
BUILD one message
WRONG prints much
TIMEOUT prints for ever
WRONG kernel prints
\(CRASH\|TIMEOUT\) host memory
MEMORY device memory
ROWS
holds 'ten thousand files are taken' row 'ten thousand' 'REFUSED,,0,,,no,,it has more than 1000 entries'
holds 'a thousand files and one are taken' row 'thousand and one' 'REFUSED,,0,,,no,,it has more than 1000 entries'
holds 'a byte too much is taken' row over 'REFUSED,,0,,,no,,"it has 1048577 bytes'
holds 'a sparse file of 10 GB is taken' row 'sparse folder' 'REFUSED,,0,,,no,,"it has 10737418240 bytes'
holds 'a sparse file of 10 GB in an archive is taken' row 'sparse tar' 'REFUSED,,0,,,no,,it has more than 16 MiB once it is unpacked'
holds 'or in one of POSIX' row 'sparse pax' 'REFUSED,,0,,,no,,it has more than 16 MiB once it is unpacked'
holds 'or with a byte at its end' row 'sparse end' 'REFUSED,,0,,,no,,it has more than 16 MiB once it is unpacked'
hash=$(sha256sum <"$scratch/01-first-kernel.cu" | cut -d' ' -f1)
holds 'a hole at the end of a file is left out' row hole "[A-Z]*,.*$hash"
holds 'RAR leads out of the archive' row 'rar up' 'REFUSED,,0,,,no,,../01-first-kernel.cu in it leads out'
holds '7z leads out of the archive' row 'seven up' 'REFUSED,,0,,,no,,../01-first-kernel.cu in it leads out'
holds 'a hidden folder is passed over in silence' grep -q 'begins with a dot: .hidden$' "$scratch/said"
holds 'a formula is a cell' [ -z "$(grep -E '(^|,)"?[=+@-][a-z(]' "$book")" ]
holds 'the book or the words act on a terminal' [ "$(cat "$grades"/*.csv "$scratch/said" "$grades"/results/*/*.txt | tr -d '\n' | LC_ALL=C grep -ac "[$(printf '\001-\010\013-\037')]")" -eq 0 ]
holds "words without end are kept: $(du -ak "$grades/results" | sort -n | tail -n 2)" [ -z "$(find "$grades/results" -size +2M)" ]
rows=$(python3 -c 'import csv, sys; print(len(list(csv.reader(open(sys.argv[1], encoding="utf-8", newline="")))))' "$book")
students=$(find "$class" -mindepth 1 -maxdepth 1 ! -name '.*' -printf 'x\n' | wc -l)
holds "$rows rows for $students submissions" [ "$rows" -eq $((students + 1)) ]

# Students whose names are written in two ways: in the roster, by the folder, in class.cfg, and to a command; and a group's.
mkdir -p "$scratch/two/$(printf 'Zoe\314\210')" "$scratch/two/$(printf 'Zo\303\253 1')" "$scratch/two/$(printf 'o\314\210')" "$scratch/named"
printf 'student,submission\nZo\303\253,\nEda,Zoe\314\210 1\nUna,\nIda,\n' >"$scratch/named/roster.csv"
printf 'group,student\n\303\266,Una\no\314\210,Ida\n' >"$scratch/named/groups.csv"
printf 'students = ( { name = "Zoe\314\210"; excused = ( "05-transpose" ); } );\n' >"$scratch/named/class.cfg"
for folder in "$scratch/two"/*; do : >"$folder/01-first-kernel.cu"; done
build/grader/class "$scratch/two" "$scratch/named" >"$scratch/said" 2>&1
holds "a folder of a Mac's is another student: $(cat "$scratch/said")" grep -q "^$(printf 'Zo\303\253'),01-first-kernel,BUILD," "$scratch/named/gradebook.csv"
for student in Eda Ida Una; do
    holds "what $student hands in is another student's: $(cat "$scratch/named/gradebook.csv")" grep -q "^$student,01-first-kernel,BUILD," "$scratch/named/gradebook.csv"
done
holds 'a student has two rows' [ "$(wc -l <"$scratch/named/gradebook.csv")" -eq 5 ]
build/grader/class comment "GRADES=$scratch/named" "STUDENT=$(printf 'Zoe\314\210')" LESSON=1 WHO=G WORDS=w >"$scratch/said" 2>&1
holds "a command does not know the name: $(cat "$scratch/said")" [ $? -eq 0 ]

finish
