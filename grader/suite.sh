#!/bin/sh
# Runs one suite of tests for `make test`, and counts what it really ran:
#
#     grader/suite.sh NAME COMMAND [ARGUMENT...]
#
# The counts are the suite's own, from the last line in which it gives any: "N passed, M failed", "N of M
# cases passed", or Criterion's synthesis. A suite that counts nothing, or that ends badly without naming a
# failure, is a failure itself; so is one that takes longer than SUITE_LIMIT seconds: it is killed, with the processes that it had,
# which are named. The whole output is kept in build/test/NAME.log, and shown when something failed; what was counted, the name,
# the seconds that it took, and the processors' seconds, are a line of build/test/counts.
set -u
name=$1
shift
mkdir -p build/test
log=build/test/$name.log
limit=${SUITE_LIMIT:-1200}

# The numbers of a process and of all that it has started.
family() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v root="$1" '
        /^Pid:/ { pid = $2 }
        /^PPid:/ { parent[pid] = $2 }
        END { for (pid in parent) for (p = pid; p; p = parent[p]) if (p == root) { print pid; break } }'
}

# Kills the suite once it has taken too long, and says so.
watch() {
    sleep "$limit"
    processes=$(family "$1")
    echo "$name: killed after $limit s, while these ran:"
    for process in $processes; do
        echo "- $process $(tr '\0' ' ' <"/proc/$process/cmdline" | cut -c1-200)"
    done
    # shellcheck disable=SC2086
    kill -KILL $processes
}

begin=$(date +%s.%N)
"$@" >"$log" 2>&1 &
suite=$!
watch "$suite" >"$log.killed" 2>/dev/null &
watch=$!
wait "$suite" 2>/dev/null
status=$?
# shellcheck disable=SC2046
kill -KILL $(family "$watch") 2>/dev/null
wait "$watch" 2>/dev/null
end=$(date +%s.%N)
times >"$log.times"
processor=$(awk -F'[ms ]+' 'NR == 2 { print 60 * $1 + $2 + 60 * $3 + $4 }' "$log.times")     # the second line: of its children

# Said at once, since other suites run beside this one.
{
cat "$log.killed" >>"$log"
sed 's/\x1b\[[0-9;]*m//g' "$log" | awk -v status="$status" -v name="$name" -v begin="$begin" -v end="$end" -v processor="$processor" -v counts=build/test/counts \
    -v killed="$(sed -n '1s/.*\(: .*\), while these ran:/\1/p' "$log.killed")" '
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
        printf "%s: %d passed, %d failed%s\n", name, passed, failed, why
        printf "%d %d %s %.1f %.1f\n", passed, failed, name, end - begin, processor >>counts
        exit failed > 0
    }'
good=$?
[ "$good" -eq 0 ] || sed 's/^/    /' "$log"
} >"$log.said"
flock build/test cat "$log.said"
rm -f "$log.said" "$log.times" "$log.killed"
exit "$good"
