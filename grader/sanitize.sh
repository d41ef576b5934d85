#!/bin/sh
# `make sanitize`: tests of the simulated device, of its library and of the grader, with all three built under gcc's
# sanitizers. Any report of theirs is a failure.
#
#     sh grader/sanitize.sh                         all of it, some ten minutes
#     sh grader/sanitize.sh addresses | threads     one of its two halves
#     sh grader/sanitize.sh some                    of the first half what `make test` has the time for
#
# AddressSanitizer and UndefinedBehaviorSanitizer look at all three, ThreadSanitizer at the threads of the device. Each has
# a tree of its own in build/sanitize, made of links, where make builds with other flags. Leaks are not looked for: the
# processes leave their memory to the kernel.
set -u
how_much=${1:-all}
root=$PWD
passed=0 failed=0
unset MAKEFLAGS MAKELEVEL MFLAGS DEVICE

# plant NAME: $tree is build/sanitize/NAME, with everything that is here but what is built.
plant() {
    tree=$root/build/sanitize/$1
    mkdir -p "$tree/build/simulator/test" "$tree/reports"
    rm -rf "$tree/simulator" "$tree"/reports/* "$tree"/build/test/*.log "$tree"/build/test/counts
    for thing in *; do [ "$thing" = build ] || ln -sfn "$root/$thing" "$tree/$thing"; done
    ln -sfn "$root/build/setup" "$tree/build/setup"
}

# build VARIABLE... TARGET...
build() {
    make -C "$tree" -j"$(nproc)" "$@" >"$tree/build.log" 2>&1 && return
    echo "sanitize: $tree does not build:"
    tail -n 12 "$tree/build.log"
    exit 1
}

# The test programs as they were compiled here: what they call is sanitized, they are not. A name with a dot is an output, or
# a program that is being compiled.
take_programs() {
    find build/simulator/test -maxdepth 1 -type f -perm -100 ! -name '*.*' -exec cp -pu {} "$tree/build/simulator/test/" \; 2>/dev/null
}

# wrap COMMAND: $tree/wrapped/run is what runs a program of the tests.
wrap() {
    mkdir -p "$tree/wrapped"
    printf '#!/bin/sh\n%s "$@"\n' "$1" >"$tree/wrapped/run"
    chmod +x "$tree/wrapped/run"
}

# suite NAME COMMAND...: in the tree, counted as `make test` counts it.
suite() {
    (cd "$tree" && sh grader/suite.sh "$@")
}

# What the tree's suites counted, and what was reported meanwhile.
finish() {
    passed=$((passed + $(awk '{ n += $1 } END { print n + 0 }' "$tree/build/test/counts")))
    failed=$((failed + $(awk '{ n += $2 } END { print n + 0 }' "$tree/build/test/counts")))
    for report in $(grep -lE 'ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer' "$tree"/reports/* 2>/dev/null); do
        failed=$((failed + 1))
        echo "sanitize: ${report#"$root"/}:"
        grep -vE '^ *$' "$report" | head -n 12
    done
}

# ---- AddressSanitizer and UndefinedBehaviorSanitizer

# Signals are the programs' own. A submission has the sanitizers' libraries before libc, which is what counts, but not as
# its very first. Each shared object needs UBSan's whole runtime, or it reports where nobody looks.
addresses() {
    plant address
    compiler='gcc -fsanitize=address,undefined -fno-omit-frame-pointer -static-libubsan'
    quiet=detect_leaks=0:verify_asan_link_order=0:use_sigaltstack=0
    for signal in segv abort sigbus sigfpe sigill; do quiet=$quiet:handle_$signal=0; done
    # The library registers the program's memory by the page, and so copies what lies around it as well.
    echo 'interceptor_via_fun:exchange_pages' >"$tree/suppressions"
    export ASAN_OPTIONS="$quiet:log_path=$tree/reports/report:suppressions=$tree/suppressions"
    export UBSAN_OPTIONS="print_stacktrace=1:log_path=$tree/reports/report"
    build CC="$compiler" speed="$1 -g1" simulated
    suite grader-unit env CC="$compiler" sh grader/test/unit.sh
    [ "$how_much" = some ] || and_all_of_the_grader
    # A program is not sanitized, and must have the sanitizer's own library loaded before all others.
    wrap "LD_PRELOAD=$(gcc -print-file-name=libasan.so) exec simulator/run"
    take_programs
    suite simulator-api env PROGRAMS="$2" DEVICE="$tree/wrapped/run" "$root/build/test/simulator-api" --filter api/program
    finish
}

and_all_of_the_grader() {
    units=$(ls simulator/test/*.c | sed 's|.*/||; s/\.c$//' | grep -vx api)
    lesson=01-first-kernel
    # shellcheck disable=SC2046
    build CC="$compiler" speed='-O1 -g1' build/grader/worker.o "build/grader/$lesson" build/grader/study \
        $(printf ' build/test/simulator-%s' $units)
    for unit in $units; do suite "simulator-$unit" "build/test/simulator-$unit"; done
    # A submission is linked with the harness, which is sanitized.
    suite "lesson-$lesson" env NVCC_APPEND_FLAGS='-lasan -lubsan' sh grader/try.sh "$lesson"
}

# ---- ThreadSanitizer

# It lets a program have memory at some addresses only: the device's own is moved there, in copies of the headers that say
# where it lies. Criterion's programs want others, and are not sanitized.
threads() {
    plant thread
    rm "$tree/simulator"
    cp -Rp simulator "$tree/simulator"
    for header in simulator/wire/wire.h simulator/memory/memory.h; do
        sed 's/0x1fff00000000ull/0x554100000000ull/; s/0x200000000000ull/0x550000000000ull/; s/1ull << 38/1ull << 36/
            s/1ull << 40/1ull << 38/' $header >"$tree/$header"
        [ "$(diff $header "$tree/$header" | grep -c '^>')" -ge 3 ] || { echo "sanitize: the addresses are not in $header"; exit 1; }
        touch -r $header "$tree/$header"
    done
    export TSAN_OPTIONS="log_path=$tree/reports/report"
    build speed='-O1 -g1 -fsanitize=thread' simulated
    wrap 'exec simulator/run --threads 4 --spread 100'
    take_programs
    # What speaks to the device by itself is compiled anew, with these headers.
    for program in $(grep -l /wire/ simulator/test/programs/*.c); do rm -f "$tree/build/simulator/test/$(basename "$program" .c)"; done
    suite simulator-api env TIME_LIMIT=600 DEVICE="$tree/wrapped/run" "$root/build/test/simulator-api" --filter api/program
    finish
}

case $how_much in
all) addresses -O1 '*'; threads ;;
addresses) addresses -O1 '*' ;;
threads) threads ;;
some) addresses -O0 '[a-c]*' ;;
*) sed -n '/^#     sh/s/^#//p' "$0"; exit 1 ;;
esac
echo "sanitize: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
