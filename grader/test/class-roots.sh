#!/bin/sh
# Tests that a class gets the same marks and counters wherever it is graded: once more under another path, as another user, with another
# TMPDIR, locale, time zone and umask, from a folder that lists its files in another order, and every file of the results is the same,
# byte for byte.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel 02-managed-memory 05-transpose 07-stencil class sandbox
build/grader/sandbox --check >/dev/null || { echo 'class-roots: 0 passed, 1 failed: this machine refuses namespaces'; exit 1; }
python3 -B -c 'import sys; sys.path.insert(0, "grader/rehearsal"); import submissions
submissions.make_class(sys.argv[1], 7, 26, 1)' "$class"
# A student with a folder and an archive. What the linker says has paths, what the assembler says has a name that gcc draws; a pointer of
# the host's is an address; and pictures lie beside the result.
mkdir "$scratch/here" "$scratch/there" "$class/twice" "$class/linked" "$class/assembled" "$class/host" "$class/pictures"
echo '#error as a folder' >"$class/twice/01-first-kernel.cu"
(cd "$class/twice" && sed 's/folder/archive/' 01-first-kernel.cu >../01-first-kernel.cu)
(cd "$class" && zip -qm twice.zip 01-first-kernel.cu)
{ sh grader/wrong.sh grader/wrong/01-first-kernel/wrong-index.edit && echo 'int main() { return 0; }'; } >"$class/linked/01-first-kernel.cu"
{ cat solutions/01-first-kernel.cu && echo 'asm("nonsense");'; } >"$class/assembled/01-first-kernel.cu"
sh grader/wrong.sh grader/wrong/02-managed-memory/host-pointer-to-kernel.edit >"$class/host/02-managed-memory.cu"
sed 's/^#define VERSION .*/#define VERSION 1/; /^[ \t]*\/\/[<>|]/d' solutions/07-stencil.cu >"$class/pictures/07-stencil.cu"
# Hours on both sides of a number of days, across the end of another zone's summer time.
echo 'student,file,time' >"$scratch/manifest"
day=10-31 hour=0
for handed_in in "$class"/*; do
    name=${handed_in##*/}
    case $name in twice*) continue ;; esac
    echo "\"$(echo "$name" | sed 's/\.\(zip\|7z\|tar.gz\)$//')\",\"$name\",2026-${day}T$(printf %02d $hour):30Z" >>"$scratch/manifest"
    day=11-02 hour=$((hour + 1))
done
mv "$scratch/manifest" "$class/manifest.csv"
echo 'late = { budget = 0; penalty = 10; }; lessons = ( { name = "01-first-kernel"; deadline = "2026-10-31T06:00Z"; },
    { name = "02-managed-memory"; }, { name = "07-stencil"; } );' |
    tee "$scratch/here/class.cfg" >"$scratch/there/class.cfg"

env -u TMPDIR LC_ALL=C TZ=UTC build/grader/class "$scratch/class" "$scratch/here" >"$scratch/said" 2>&1
holds "here: ends with $?: $(cat "$scratch/said")" [ $? -eq 0 ]
cp "$scratch/here/secret" "$scratch/there" # seeds and pseudonyms come from it

# A path below /dev/shm, which is this program's own.
root=/dev/shm/another/and/longer/path/of/the/project work=/dev/shm/elsewhere
umask 077
bwrap --dev-bind / / --perms 1777 --tmpfs /dev/shm --perms 0755 --dir /dev/shm/another --perms 0755 --dir "$work" --dir "$work/temporary" \
    --bind "$PWD" "$root" --ro-bind "$scratch/class" "$work/class" --bind "$scratch/there" "$work/grades" --chdir "$root" \
    --unshare-user --uid 4711 --gid 4711 --setenv TMPDIR "$work/temporary" --setenv LC_ALL C.UTF-8 --setenv TZ EST5EDT,M3.2.0,M11.1.0 --setenv HOME "$work" \
    sh -c 'id -u; pwd
        for order in cat tac; do # a tmpfs lists its files in the order in which they came, or in the opposite one
            rm -rf "$1/submissions" && mkdir "$1/submissions"
            ls -U "$1/class" | $order | while read -r name; do cp -r "$1/class/$name" "$1/submissions"; done
            [ "$(ls -U "$1/submissions")" = "$(ls -U "$1/class")" ] || break
        done
        exec build/grader/class "$1/submissions" "$1/grades"' sh "$work" >"$scratch/said" 2>&1
holds "there: ends with $?: $(cat "$scratch/said")" [ $? -eq 0 ]
umask 022
holds 'it is no other user, or no other path' [ "$(head -n 2 "$scratch/said" | tr '\n' ' ')" = "4711 $root " ]
holds "none is late, or none in time: $(cat "$scratch/here/gradebook.csv")" [ "$(cut -d, -f7 "$scratch/here/gradebook.csv" | sort -u | tr '\n' ' ')" = ' 0 2 3 late_days ' ]
holds "nothing is graded: $(cat "$scratch/here/gradebook.csv")" grep -q ',PASS,2,8,' "$scratch/here/gradebook.csv"
holds 'nothing is counted' grep -rq '"smsp__inst_executed.sum": [1-9]' "$scratch/here/results"
for part in gradebook.csv marks.csv pseudonyms.csv results sealed; do
    holds "$part is another there: $(diff -r "$scratch/here/$part" "$scratch/there/$part" 2>&1 | head -n 6)" diff -rq "$scratch/here/$part" "$scratch/there/$part"
done
holds 'the linker says nothing' grep -rqF "exercises/01-first-kernel.cu" "$scratch/here/results" --include='01-*.txt'
holds 'the assembler says nothing' grep -rqF "ccXXXXXX.s:" "$scratch/here/results" --include='01-*.txt'
holds 'nothing is told of an address of the host' grep -rqF "but the host's" "$scratch/here/results"
holds 'a picture is not where its name says' [ -f "$(dirname "$(grep -rlF 'Picture: 07-stencil-edges.png' "$scratch/here/results")")/07-stencil-edges.png" ]
others_can() { find "$scratch/here/results" -type f -perm /077; }
holds "others can read $(others_can | head -n 3)" [ -z "$(others_can)" ]
holds "a path of either is in a result" [ -z "$(grep -rlF -e "$scratch" -e "$root" -e "$work" -e "$PWD" "$scratch/here/results" "$scratch/there/results")" ]

# At home nvcc's own names have the number of its process.
for part in linked assembled; do
    build/grader/01-first-kernel --result "$scratch/home.json" "$class/$part/01-first-kernel.cu" >>"$scratch/home" 2>&1
done
holds "a name is not its pattern: $(cat "$scratch/home")" grep -qE '(^| )tmpxft_XXXXXXXX_XXXXXXXX-[0-9a-f]+_01-first-kernel\.o:' "$scratch/home"
holds "nor this one" grep -q '^ccXXXXXX\.s: ' "$scratch/home"

finish
