#!/bin/sh
# How near the simulator's counters come to a GPU's in the lessons: the second half of `make accuracy`
# (profiles/accuracy.sh), on a machine with ncu (Nsight Compute).
#
# Each version in the solution of each lesson is run in the check that the lesson's claims are about, once on the
# simulated device and once on the GPU under ncu, and the sums over its kernels stand side by side in
# profiles/accuracy/DEVICE-lessons.md. A counter that differs by more than a hundredth, and is no estimate, needs an
# explanation in profiles/accuracy/why.txt; it fails without one.
#
#     grader/accuracy.sh [LESSON...]        01-first-kernel 05-transpose ...; all that have claims without
set -u
lessons=${*:-$(ls profiles/lessons | sed 's/\.cfg$//')}
scratch=build/accuracy-lessons
why=profiles/accuracy/why.txt
rm -rf "$scratch"
mkdir -p "$scratch"
failed=0

ncu=$(command -v ncu) || { echo 'ncu is missing: it comes with the CUDA Toolkit, in Nsight Compute'; exit 1; }

# The versions in a solution: as many as the one that it takes by itself; a solution without has one, called 0.
versions() {
    last=$(sed -n 's|^#define VERSION \([0-9]*\).*|\1|p' "solutions/$1.cu")
    if [ -n "$last" ]; then seq 1 "$last"; else echo 0; fi
}

# The check that the lesson's claims are measured on.
measured_check() {
    sed -n 's/.*check = "\([a-z_0-9]*\)".*/\1/p' "profiles/lessons/$1.cfg" | head -n 1
}

# grade LESSON VERSION DEVICE RESULT: one run of the grader, in which the verdict is of no interest.
grade() {
    define=
    [ "$2" = 0 ] || define="--define VERSION=$2"
    # shellcheck disable=SC2086
    DEVICE=$3 "build/grader/$1" --check "$(measured_check "$1")" $define --result "$4" "solutions/$1.cu" \
        >"$scratch/log" 2>&1
}

# The sums of a run on the simulated device, as "name value estimate"; the result is indented by one space a level.
simulated() {
    awk '
        /^   "counters": \{/  { inside = 1; next }
        /^   "estimates": \{/ { guessed = 1; next }
        /^   \}/              { inside = guessed = 0 }
        inside || guessed     { gsub(/[",]/, ""); sub(/:/, "") }
        inside                { value[$1] = $2; order[n++] = $1 }
        guessed               { estimate[$1] = 1 }
        END { for (i = 0; i < n; i++) print order[i], value[order[i]], estimate[order[i]] + 0 }' "$1"
}

# The sums of ncu's table: a row for each kernel and counter, all fields quoted.
profiled() {
    awk -F '","' '
        { for (i = 8; i < NF - 1; i++) if ($i ~ /^(l1tex|smsp|launch)__/) {
              value = $(i + 2); gsub(/[",]/, "", value); sum[$i] += value; break } }
        END { for (name in sum) printf "%s %.0f\n", name, sum[name] }' "$1"
}

# What this ncu knows, of what the simulator counts: what is ours alone, as launch__count, is left out.
"$ncu" --query-metrics >"$scratch/metrics" 2>&1
known() {
    while read -r counter rest; do
        case $counter in
        launch__thread_count) echo "$counter" ;;
        *) grep -q "^${counter%.sum} " "$scratch/metrics" && echo "$counter" ;;
        esac
    done
}

# compare LESSON VERSION: the lines of the table.
compare() {
    result=$scratch/$1-$2
    grade "$1" "$2" simulator/run "$result.simulated.json"
    simulated "$result.simulated.json" >"$result.simulated"
    counters=$(known <"$result.simulated" | paste -sd, -)
    [ -n "$counters" ] || { echo "$1, version $2: the simulated device counts nothing"; cat "$scratch/log"; return 1; }

    grade "$1" "$2" "$ncu --clock-control none --csv --print-units base --log-file $result.ncu --metrics $counters" \
        "$result.gpu.json"
    profiled "$result.ncu" >"$result.gpu"
    [ -s "$result.gpu" ] || { echo "$1, version $2: ncu counts nothing"; cat "$scratch/log" "$result.ncu"; return 1; }

    awk -v lesson="$1" -v version="$2" -v why="$why" -v rows="$scratch/rows" '
        FILENAME == ARGV[1] { gpu[$1] = $2; next }
        FILENAME == why { if ($1 == lesson && ($2 == version || $2 == "*")) reason[$3] = 1; next }
        !($1 in gpu) { next }
        $2 == 0 && gpu[$1] == 0 { next }
        {
            near = gpu[$1] ? $2 / gpu[$1] : 0
            exact = near >= 0.99 && near <= 1.01
            printf "| %s | `%s` | %s%d | %d | %s |\n", version ? version : "", $1, $3 ? "~" : "", $2, gpu[$1],
                gpu[$1] ? sprintf("%.4f", near) : "-" >>rows
            if (!exact && !$3 && !($1 in reason)) {
                printf "%s, version %s: %s is %d simulated, %d by ncu; say why in %s\n", lesson, version, $1, $2,
                    gpu[$1], why
                bad = 1
            }
        }
        END { exit bad }' "$result.gpu" "$why" "$result.simulated"
}

# The explanations of a lesson, as a list.
reasons() {
    awk -v lesson="$1" '$1 == lesson {
        words = $0; sub(/^[^ ]+ +[^ ]+ +[^ ]+ +/, "", words)
        printf "- %s, `%s`: %s\n", $2 == "*" ? "Every version" : "Version " $2, $3, words }' "$why"
}

gpu_field() {
    sed -n "s/^  \"$1\": \"\(.*\)\",*$/\1/p" "$2" | head -n 1
}

for lesson in $lessons; do
    : >"$scratch/rows"
    for version in $(versions "$lesson"); do
        compare "$lesson" "$version" || failed=$((failed + 1))
    done
    [ -s "$scratch/rows" ] || continue
    {
        echo "## $lesson"
        echo
        echo "The check \`$(measured_check "$lesson")\`."
        echo
        echo '| version | counter | simulated | ncu | simulated / ncu |'
        echo '| --- | --- | ---: | ---: | ---: |'
        cat "$scratch/rows"
        echo
        reasons "$lesson" | grep . && echo
    } >>"$scratch/body"
done

one=$(ls "$scratch"/*.gpu.json 2>/dev/null | head -n 1)
[ -n "$one" ] && [ -s "$scratch/body" ] || { echo 'nothing was compared'; exit 1; }
device=$(gpu_field device "$one")
target=profiles/accuracy/$(echo "$device" | tr 'A-Z ' 'a-z-')-lessons.md
{
    echo "# Counters, simulated and on the $device"
    echo
    echo 'Written by `make accuracy`: sums over the kernels of one check, on the simulated device and by ncu on the'
    echo 'GPU. What stands with ~ is an estimate. Counters that are 0 on both are left out.'
    echo
    echo "$(gpu_field date "$one"); driver $(gpu_field driver "$one"); CUDA Toolkit $(gpu_field toolkit "$one");" \
        "$("$ncu" --version | sed -n 's/^Version \([0-9.]*\).*/ncu \1/p')"
    echo
    sed -e '$ { /^$/d }' "$scratch/body"
} >"$target"
echo "$target: $(grep -c '^| .*`' "$target") counters, $failed versions that differ unexplained"
[ "$failed" -eq 0 ]
