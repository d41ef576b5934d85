#!/bin/sh
# Does what the chapter for instructors (book/teaching.md) has its readers type, in a tree of its own, build/try/teaching: every block of
# shell in its section "A class, from start to end", and every {.output cmd="..."}, whose output must be what the chapter shows.
#
#     sh book/test/teaching.sh            compares
#     sh book/test/teaching.sh fill       puts what the commands print now into the chapter; look at it before you keep it
#
# What depends on the machine or the day is not compared: versions, digits of hashes, times. The class's secret is given, so pseudonyms,
# seeds and the viva's questions are the same each time.
set -u
. book/test/counting
text=book/teaching.md tree=build/try/teaching
for program in class integrity sandbox study 01-first-kernel 05-transpose; do
    [ -x build/grader/$program ] || { echo "teaching: type make ready-1 ready-5 build/grader/class build/grader/integrity first"; exit 1; }
done
unset MAKELEVEL MFLAGS GRADES SUBMISSIONS STUDENT LESSON POINTS WHO WHY WORDS APPLY LOWER FILE TOKEN ANSWERS SLURM UNTRUSTED DEVICE
export MAKEFLAGS=s COLUMNS='' LC_ALL=C.UTF-8 NO_COLOR=1

rm -rf "$tree"
mkdir -p "$tree/build" "$tree/grades"
for part in Makefile VERSION CHANGELOG.md book exercises grader lessons profiles setup simulator solutions; do ln -s "$PWD/$part" "$tree"; done
for part in grader objects setup simulator; do ln -s "$PWD/build/$part" "$tree/build"; done
printf 'the secret of the class to learn' >"$tree/grades/secret"

# Numbers the section's blocks: N.kind is `sh` or the command whose output the block shows, N.text what stands in it.
awk -v to="$tree/" '
    /^## / { within = /^## A class, from start to end/ }
    !within { next }
    /^```$/ && open { close(to n ".text"); open = 0; next }
    open { print >(to n ".text"); next }
    /^```(sh|[{]\.output cmd=".*"[}])$/ {
        open = 1
        sub(/^```([{]\.output cmd=")?/, ""); sub(/"[}]$/, "")
        n++
        print >(to n ".kind"); close(to n ".kind")
        printf "" >(to n ".text")
    }' "$text"
blocks=$(ls "$tree" | grep -c '\.kind$')
[ "$blocks" -gt 10 ]
verdict "$text: has $blocks blocks to type"

# What a command prints, as the chapter has it: the checkout is /course.
shown() {
    (cd "$tree" && sh -c "$1" </dev/null) 2>&1 | sed "s|$PWD/$tree|/course|g; /^make.*\*\*\*/d; s/[[:blank:]]*\$//"
}

# What may differ.
alike() {
    sed -E "s/[0-9a-f]{8,64}/HASH/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]*Z/TIME/g; s/\<[0-9]+\.[0-9]+\.[0-9]+\>/VERSION/g" "$1"
}

for n in $(seq "$blocks"); do
    command=$(cat "$tree/$n.kind")
    if [ "$command" = sh ]; then
        (cd "$tree" && sh -e "$n.text") >"$tree/$n.log" 2>&1
        verdict "$text: what it has you type fails: $(cat "$tree/$n.text" "$tree/$n.log")"
        continue
    fi
    shown "$command" >"$tree/$n.log"
    alike "$tree/$n.log" >"$tree/$n.is"
    alike "$tree/$n.text" >"$tree/$n.was"
    [ "${1:-}" = fill ] || cmp -s "$tree/$n.is" "$tree/$n.was"
    verdict "$text: does not show what $command prints now. To fill it in: sh book/test/teaching.sh fill
$(diff "$tree/$n.was" "$tree/$n.is")"
done

if [ "${1:-}" = fill ]; then
    awk -v from="$tree/" '
        /^## / { within = /^## A class, from start to end/ }
        open && /^```$/ { while ((getline line <(from n ".log")) > 0) print line; open = 0 }
        !open { print }
        within && /^```(sh|[{]\.output cmd=".*"[}])$/ { n++; open = /output/ }' "$text" >"$tree/filled.md" &&
        cat "$tree/filled.md" >"$text"
fi

# The commands that the chapter names are there.
grep -oE '(`|cmd=")make [a-z]+(-[a-z0-9]+)*' "$text" | sed 's|.*make ||; s|-[0-9]*$|-%|' | sort -u >"$tree/named"
[ "$(wc -l <"$tree/named")" -gt 10 ]
verdict "$text: names $(wc -l <"$tree/named") commands"
for command in $(cat "$tree/named"); do
    grep -qE "^([a-z_()\$ ]* )?$command:" Makefile ./*/*.mk ./*/*/*.mk
    verdict "$text: names make $command, which is no command"
done
finish
