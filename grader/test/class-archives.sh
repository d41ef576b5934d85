#!/bin/sh
# Tests `make grade` on archives: what is taken from good ones, and that hostile ones are refused by rule, each with what was
# refused, as a row of the gradebook, while the others are graded.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel 05-transpose class sandbox

mkdir "$class" "$class/folder" "$scratch/plain"
python3 grader/test/class/archives.py "$class" || exit 1
cp solutions/01-first-kernel.cu "$scratch/plain"
(cd "$scratch/plain" && zip -qP secret "$class/encrypted.zip" 01-first-kernel.cu)
cp "$class/zip.zip" "$class/folder/handed in.zip"
mkdir -p "$class/deep/a/.git/b"
cp solutions/01-first-kernel.cu "$class/deep/a"
cp exercises/01-first-kernel.cu "$class/deep/a/.git/b"
mkdir "$class/$(printf 'of\033[31mthe\nterminal')"
: >"$class/$(printf 'of\033[31mthe\nterminal/a\033b')"

build/grader/class "$class" "$grades" >"$scratch/said" 2>&1
status=$?
holds "ends with $status: $(cat "$scratch/said")" [ $status -eq 0 ]
row() { grep -q -- "^$1,01-first-kernel,$2" "$grades/gradebook.csv"; }
for student in zip gz xz plain folder deep Зоя; do
    holds "$student is not graded" row "$student" 'PASS,2,10,'
done
holds 'a name in other letters is not graded' row 'अदिति' 'TODO,'
for student in tar-bz2 tbz2 txz tgz TAR tar-zst tar-lz4 full dense thousand; do
    holds "$student: is not taken: $(grep "^$student,01" "$grades/gradebook.csv")" row "$student" 'BUILD,'
done
while IFS=: read -r student why; do
    holds "$student: not refused, or not for '$why': $(grep "^$student,01" "$grades/gradebook.csv")" row "$student" "REFUSED,,0,,,no,,\"*$why"
done <<'REFUSED'
twice:it is there twice, as twice.zip:exercises/01-first-kernel.cu and as twice.zip:solutions/
up:../01-first-kernel.cu in it leads out
updeep:a/../../01-first-kernel.cu in it leads out
absolute:/01-first-kernel.cu in it leads out
drive:C:.01-first-kernel.cu in it leads out
backslash:...01-first-kernel.cu in it leads out
slashes:a....01-first-kernel.cu in it leads out
dots:a/.. in it leads out
folder of its name:it is no regular file
symlink:01-first-kernel.cu in it is a link
hardlink:01-first-kernel.cu in it is a link
hardother:x in it is a link
device:null in it is neither a file nor a folder
fifo:p in it is neither
bomb:it becomes more than 100 times as large
bombs:it becomes more than 100 times as large
heavy:it has more than 16 MiB once it is unpacked
many:it has more than 1000 entries
thousand and one:it has more than 1000 entries
nested:x.zip in it is an archive again
encrypted:01-first-kernel.cu in it is encrypted
none:no file in it is named as .* transpose.cu
large:it has 1048577 bytes
broken:it is broken
empty:it is broken
cut:it is broken
greedy:it is broken
mtree:it is broken, or no archive
huge:it has 10737418240 bytes
REFUSED
holds 'what is beside a file that is there twice is not graded' grep -q '^twice,05-transpose,BUILD,' "$grades/gradebook.csv"
holds 'names of files and folders act on a terminal' [ "$(cat "$grades"/*.csv "$scratch/said" | grep -c "$(printf '\033')")" -eq 0 ]
holds 'a name with control characters has no row' row 'of?.31mthe terminal' 'REFUSED,.*it has a?b,'
holds 'an archive has written outside' [ -z "$(find "$scratch" -maxdepth 2 -name '01-first-kernel.cu' ! -path '*/plain/*')" ]

# An archive is read in the sandbox, with the limits of its own.
tree=$scratch/tree
mkdir -p "$tree/build/grader" "$scratch/one"
ln -s "$PWD/lessons" "$PWD/VERSION" "$tree"
printf '#!/bin/sh\necho "$*" >>"%s/asked"\nexec "%s/build/grader/sandbox" "$@"\n' "$scratch" "$PWD" >"$tree/build/grader/sandbox"
chmod +x "$tree/build/grader/sandbox"
cp "$class/none.zip" "$scratch/one"
program=$PWD/build/grader/class
(cd "$tree" && "$program" "$scratch/one" "$scratch/onegrades") >"$scratch/said" 2>&1
holds "an archive is read outside of the sandbox: $(cat "$scratch/asked")" grep -q -- "-- $program --unpack\$" "$scratch/asked"

# What reads it is not believed: it can be in the archive's hands.
told() {
    printf '#!/bin/sh\ncase $* in *--unpack) %s; exit ;; esac\nexec "%s/build/grader/sandbox" "$@"\n' "$2" "$PWD" >"$tree/build/grader/sandbox"
    rm -f "$scratch/onegrades/gradebook.csv"
    (cd "$tree" && "$program" "$scratch/one" "$scratch/onegrades") >"$scratch/said" 2>&1
    holds "told $2: $(cat "$scratch/onegrades/gradebook.csv")" grep -q "^none,,REFUSED,.*$1" "$scratch/onegrades/gradebook.csv"
}
unbelieved='it cannot be unpacked: it takes too much memory or time, or is broken'
told 'no file in it is named' 'printf "file ../README 3 1\nabcxend\n"'
told 'no file in it is named' 'printf "file a/../../README 3 1\nabcxend\n"'
told "$unbelieved" 'printf "file 01-first-kernel 3 1\nabcx"'
told "$unbelieved" 'printf "file 01-first-kernel 9 1\nabcxend\n"'
told "$unbelieved" 'printf "file 01-first-kernel 3 99\nabcxend\n"'
told "$unbelieved" 'printf "file 01-first-kernel 0 5000"'
told "$unbelieved" 'printf "file 01-first-kernel 18446744073709551615 1\nabcxend\n"'
told "$unbelieved" 'printf "file 01-first-kernel 2000000 1\n"; head -c 2000001 /dev/zero; echo end'
told "$unbelieved" 'printf "words\nend\n"'
told "$unbelieved" 'printf "none 5000\nend\n"'
told "$unbelieved" 'kill -9 $$'
told "$unbelieved" 'size=$(stat -L -c %s /dev/stdin); [ "$size" -eq 0 ] || exit 127'
told 'why?' 'printf "none 4\nwhy\033end\n"'

# It fails for an empty file, too: it lacks a library, and no archive is broken.
rm -f "$scratch/onegrades/gradebook.csv"
printf '#!/bin/sh\ncase $* in *--unpack) exit 127 ;; esac\nexec "%s/build/grader/sandbox" "$@"\n' "$PWD" >"$tree/build/grader/sandbox"
(cd "$tree" && "$program" "$scratch/one" "$scratch/onegrades") >"$scratch/said" 2>&1
holds "without an unpacker it ends with $?" [ $? -eq 1 ]
holds "without an unpacker: $(cat "$scratch/said")" grep -q '^No archive can be unpacked: ' "$scratch/said"
holds 'without an unpacker there is a gradebook' [ ! -e "$scratch/onegrades/gradebook.csv" ]

finish
