#!/bin/sh
# What make builds is whole, or not there: while two makes build the same at once, after one that was killed in the middle,
# and when two programs find at once that the simulated device is older than its sources. In a tree of links, with a compiler
# that writes what gcc made in two halves, and waits between them until it is told to go on.
set -u
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

count() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "whole: $1"
        sed 's/^/    /' "$tree/log"
    fi
}

for part in Makefile grader lessons profiles setup; do ln -s "$PWD/$part" "$tree/$part"; done
mkdir -p "$tree/build/objects" "$tree/build/setup" "$tree/simulator/client"
ln -s "$PWD"/simulator/*.mk "$tree/simulator/"
ln -s "$PWD/book" "$tree/"
cp -a build/objects/flags build/objects/grader "$tree/build/objects"
touch "$tree/build/setup/lesson"
gcc=$(command -v gcc)
mkdir "$tree/bin"
cat >"$tree/bin/gcc" <<'END'
#!/bin/sh
for word in "$@"; do
    [ "${last:-}" != -o ] || to=$word
    last=$word
done
"$GCC" "$@" && [ -n "${to:-}" ] && mv "$to" "$to.made" && half=$(($(stat -c %s "$to.made") / 2)) || exit
head -c $half "$to.made" >"$to"
echo >>"$TREE/halfway"
for moment in $(seq 300); do [ ! -e "$TREE/$GO" ] || break; sleep 0.1; done
tail -c +$((half + 1)) "$to.made" >>"$to"
chmod +x "$to"
rm "$to.made"
END
chmod +x "$tree/bin/gcc"

# build GO TARGET: in a process group of its own, whose number is that of the background job; on it goes when there is a file GO.
build() {
    exec setsid env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS GCC="$gcc" TREE="$tree" PATH="$tree/bin:$PATH" GO="$1" \
        make -s -C "$tree" "$2" >>"$tree/log" 2>&1
}

# Until so many compilers have come to the middle.
halfway() {
    for moment in $(seq 100); do
        [ "$(cat "$tree/halfway" 2>/dev/null | wc -l)" -lt "$1" ] || return 0
        sleep 0.1
    done
    return 1
}

for target in build/objects/grader/text.o build/grader/study; do
    made=$tree/$target
    rm -f "$made" "$tree/halfway"
    : >"$tree/log"
    build never $target &
    halfway 1
    env kill -s KILL -- "-$!"
    wait $! 2>/dev/null
    [ ! -e "$made" ]
    count "a make that was killed leaves half of $target" $?

    rm -f "$tree/halfway" "$tree/one" "$tree/two"
    build one $target & one=$!
    build two $target & two=$!
    halfway 2 && [ ! -e "$made" ] && touch "$tree/one" && wait $one && nm "$made" >"$tree/first" &&
        touch "$tree/two" && wait $two && nm "$made" >"$tree/second" && cmp -s "$tree/first" "$tree/second"
    count "two makes at once do not make $target" $?
done

# simulator/run, which has the device made anew when a source is newer: one at a time.
cat >"$tree/bin/make" <<'END'
#!/bin/sh
mkdir "$TREE/busy" || exit 1
sleep 0.3
rmdir "$TREE/busy"
END
chmod +x "$tree/bin/make"
mkdir -p "$tree/build/simulator/lib"
cp simulator/run "$tree/simulator/"
touch "$tree/build/simulator/lib/libcudart.so.13"
touch -d tomorrow "$tree/simulator/main.c"
printf '#!/bin/sh\n' >"$tree/build/simulator/device"
chmod +x "$tree/build/simulator/device"
: >"$tree/log"
for run in 1 2 3; do env -u PROFILE TREE="$tree" PATH="$tree/bin:$PATH" "$tree/simulator/run" >>"$tree/log" 2>&1 || touch "$tree/ended-badly" & done
wait
[ -z "$(cat "$tree/log")" ] && [ ! -e "$tree/ended-badly" ]
count 'several runs at once make the device side by side' $?

echo "whole: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
