#!/bin/sh
# Runs one suite of tests for `make test`, and counts what it really ran:
#
#     grader/suite.sh NAME COMMAND [ARGUMENT...]
#
# The counts are the suite's own, from the last line in which it gives any: "N passed, M failed", "N of M
# cases passed", or Criterion's synthesis. A suite that counts nothing, or that ends badly without naming a
# failure, is a failure itself; so is one that takes longer than SUITE_LIMIT seconds: it is killed, with the processes that it had,
# which are named. A program of Criterion's waits for itself at times, for ever (its pull request 468): one whose processes, all of
# that program, have not worked for SUITE_QUIET seconds is killed and tried once more. The whole output is kept in
# build/test/NAME.log, and shown when something failed; what was counted, the name, the seconds that it took, and the processors'
# seconds, are a line of build/test/counts.
set -u
name=$1
shift
mkdir -p build/test
log=build/test/$name.log
limit=${SUITE_LIMIT:-2400} most_quiet=${SUITE_QUIET:-120}

# The numbers of a process and of all that it has started.
family() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v root="$1" '
        /^Pid:/ { pid = $2 }
        /^PPid:/ { parent[pid] = $2 }
        END { for (pid in parent) for (p = pid; p; p = parent[p]) if (p == root) { print pid; break } }'
}

# The time that processes, and what they have started and waited for, have worked: ticks of the clock.
worked() {
    for process in $1; do cat "/proc/$process/stat"; done | sed 's/.*) //' | awk '{ all += $12 + $13 + $14 + $15 } END { print all + 0 }'
}

is_one_program() {
    [ "$(for process in $1; do readlink "/proc/$process/exe"; done | sort -u | wc -l)" -eq 1 ]
}

# Kills the suite once it has taken too long, or waits for itself, and says so.
watch() {
    taken=0 quiet=0 before= look=10
    for most in "$limit" "$most_quiet"; do [ "$look" -le "$most" ] || look=$most; done
    while [ "$taken" -lt "$limit" ] && [ "$quiet" -lt "$most_quiet" ]; do
        sleep "$look"
        taken=$((taken + look)) quiet=$((quiet + look))
        processes=$(family "$1")
        work=$(worked "$processes")
        [ "$work" = "$before" ] && is_one_program "$processes" || quiet=0
        before=$work
    done
    [ "$quiet" -ge "$most_quiet" ] && why="waited for itself" || why="killed after $limit s"
    echo "$name: $why, while these ran:"
    for process in $processes; do
        echo "- $process $(tr '\0' ' ' <"/proc/$process/cmdline" | cut -c1-200)"
    done
    # shellcheck disable=SC2086
    kill -KILL $processes
}

# Runs the suite, until it ends or is killed.
try() {
    "$@" >>"$log" 2>&1 &
    suite=$!
    watch "$suite" >"$log.killed" 2>/dev/null &
    watch=$!
    wait "$suite" 2>/dev/null
    status=$?
    # shellcheck disable=SC2046
    kill -KILL $(family "$watch") 2>/dev/null
    wait "$watch" 2>/dev/null
}

begin=$(date +%s.%N)
: >"$log"
try "$@"
again=
if grep -q "^$name: waited for itself" "$log.killed"; then
    again=', tried again since it waited for itself'
    cat "$log.killed" >>"$log"
    try "$@"
fi
end=$(date +%s.%N)
times >"$log.times"
processor=$(awk -F'[ms ]+' 'NR == 2 { print 60 * $1 + $2 + 60 * $3 + $4 }' "$log.times")     # the second line: of its children

# Said at once, since other suites run beside this one.
{
cat "$log.killed" >>"$log"
sed 's/\x1b\[[0-9;]*m//g' "$log" | awk -v status="$status" -v name="$name" -v begin="$begin" -v end="$end" -v processor="$processor" -v counts=build/test/counts \
    -v again="$again" -v killed="$(sed -n '1s/.*\(: .*\), while these ran:/\1/p' "$log.killed")" '
    function number_before(word) {
        return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0
    }
    function number_after(word) {
        return match($0, word ": *[0-9]+") ? substr($0, RSTART + length(word) + 1) + 0 : 0
    }
    /[0-9]+ passed, [0-9]+ failed/ {
        passed = number_before("passed")
        failed = number_before("failed")
    }
    /[0-9]+ of [0-9]+ cases passed/ {
        passed = number_before("of")
        failed = number_before("cases passed") - passed
    }
    /Synthesis: Tested/ {
        passed = number_after("Passing")
        failed = number_after("Failing") + number_after("Crashing")
    }
    END {
        why = killed
        if (why == "" && passed + failed == 0)
            why = ": nothing ran"
        else if (why == "" && status != 0 && failed == 0)
            why = ": ended with status " status
        if (why != "")
            failed++
        printf "%s: %d passed, %d failed%s%s\n", name, passed, failed, why, again
        printf "%d %d %s %.1f %.1f\n", passed, failed, name, end - begin, processor >>counts
        exit failed > 0
    }'
good=$?
[ "$good" -eq 0 ] || sed 's/^/    /' "$log"
} >"$log.said"
flock build/test cat "$log.said"
rm -f "$log.said" "$log.times" "$log.killed"
exit "$good"
