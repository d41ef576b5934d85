#!/bin/sh
# Tests the Makefile's manners: what cannot be done is said in one line that says what to type, and fails.
set -u
passed=0 failed=0
says=$(mktemp)
trap 'rm -f "$says"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS COLUMNS

# refuses WORDS ARGUMENT...: make fails, and its own one line has the words.
refuses() {
    words=$1
    shift
    if make "$@" >"$says" 2>/dev/null; then
        echo "make $*: should fail"
    elif [ "$(wc -l <"$says")" -ne 1 ] || ! grep -qF "$words" "$says"; then
        echo "make $*: should say in one line \"$words\", but says:"
        cat "$says"
    else
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
}

# shows WORDS ARGUMENT...: make succeeds, and shows the words.
shows() {
    words=$1
    shift
    if make "$@" >"$says" 2>&1 && grep -qF -- "$words" "$says"; then
        passed=$((passed + 1))
    else
        echo "make $*: should show \"$words\", but ends with $?, and shows:"
        cat "$says"
        failed=$((failed + 1))
    fi
}

refuses 'Type: make lesson-1' lesson1
refuses 'Type: make lesson-01' lesson01
refuses 'Type: make solution-5' solution5
refuses 'Type: make lesson-5' 5
refuses 'There is no lesson 77.' lesson-77
refuses 'There is no lesson 77.' solution-77
refuses 'There is no lesson 77.' record-77
shows 'profiles/record.sh 05-transpose' -n record-5
refuses 'There is no lesson 77.' read-77
refuses 'Type: make read-5' read5
shows 'sh book/read.sh 05-transpose env BOOK_CONTENTS=' -n read-05
for command in hint profile quiz reset watch; do
    refuses 'There is no lesson 77.' $command-77
    refuses "Type: make $command-5" ${command}5
    shows "build/grader/study $command 05-transpose" -n $command-05
done
shows 'build/grader/study watch' -n watch
shows 'Your first kernel' progress
refuses 'make replay TOKEN=' replay
refuses 'Type: make' nonsense

# What is compiled with the same flags is not compiled anew by another command.
flags() { make -n "$1" 2>/dev/null | grep '^words='; }
for target in build/grader/integrity build/grader/worker.o similar; do
    if [ -n "$(flags log)" ] && [ "$(flags $target)" = "$(flags log)" ]; then
        passed=$((passed + 1))
    else
        echo "make $target: compiles all anew, with $(flags $target)"
        failed=$((failed + 1))
    fi
done

shows 'make lesson-N'
shows 'make test' help
shows 'Type: make lesson-1' doctor
# No toolkit, or none of version 13: our own.
shows 'setup/toolkit.sh build/cuda' -n -W setup/toolkit.txt nvcc CUDA_HOME=/none
shows 'setup/toolkit.sh build/cuda' -n -W setup/toolkit.txt nvcc CUDA_HOME=/usr NVCC=
shows 'build/grader/01-first-kernel exercises/01-first-kernel.cu' -n lesson-1
shows 'build/grader/01-first-kernel exercises/01-first-kernel.cu' -n lesson-01
shows 'build/grader/05-transpose solutions/05-transpose.cu' -n solution-5

# All solutions are graded, also behind one that fails, which is shown whole: in a tree of its own, with graders of its own.
tree=$(mktemp -d)
mkdir -p "$tree/lessons" "$tree/build/grader"
cp --parents Makefile */*.mk */*/*.mk "$tree/"
for lesson in 01-good 02-bad 03-good; do
    touch "$tree/lessons/$lesson.md"
    printf '#!/bin/sh\necho "VERDICT $1"\necho behind\n[ "$1" != solutions/02-bad.cu ]\n' >"$tree/build/grader/$lesson"
done
chmod +x "$tree"/build/grader/*
(cd "$tree" && make solutions grading=) >"$says" 2>/dev/null
if [ $? -ne 0 ] && [ "$(tr '\n' ' ' <"$says")" = \
    'VERDICT solutions/01-good.cu VERDICT solutions/02-bad.cu behind VERDICT solutions/03-good.cu ' ]; then
    passed=$((passed + 1))
else
    echo "make solutions: should fail, with the first line of what is good and all of what is not, but says:"
    cat "$says"
    failed=$((failed + 1))
fi
rm -rf "$tree"

# Objects are made once, and anew when what they are compiled with changes: in a tree of its own.
tree=$(mktemp -d)
mkdir -p "$tree/build/setup"
cp --parents Makefile */*.mk */*/*.mk "$tree/"
cp grader/text.c grader/text.h "$tree/grader/"
touch "$tree/build/setup/lesson"
object=build/objects/grader/text.o
made_anew() {
    touch -cd '-90 minutes' "$tree/build/objects/flags"
    touch -cd '-1 hour' "$tree/$object"
    make -C "$tree" "$@" $object >"$says" 2>&1 && [ -n "$(find "$tree/$object" -mmin -30)" ]
}
. grader/holds.sh
shown=$says
touch -d '-2 hours' "$tree"/*/*.* "$tree/Makefile"
holds 'an object: is not made' made_anew
kept() { ! made_anew "$@" && [ -f "$tree/$object" ]; }
holds 'an object: is made again for nothing' kept
holds 'an object: is kept when the flags change' made_anew 'CFLAGS=-std=gnu17 -O1 -MMD -MP'
holds 'an object: is made again for nothing, with other flags' kept 'CFLAGS=-std=gnu17 -O1 -MMD -MP'
# grader/try.sh's trees have links to the objects.
mv "$tree/build/objects" "$tree/objects" && ln -s ../objects "$tree/build/objects"
touch "$tree/grader/text.h"
holds 'an object: is kept when a header changes, behind a link' made_anew 'CFLAGS=-std=gnu17 -O1 -MMD -MP'
rm -rf "$tree"

echo "the commands: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
