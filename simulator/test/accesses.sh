#!/bin/sh
# Random accesses, one of note a kernel (accesses/main.cu): what each loads and stores, and what the simulated device counts of it, is compared
# with what an H200 did, and what ncu counted there. `DEVICE=gpu sh simulator/test/accesses.sh --record NOTE` records that.
# accesses/departures.txt says where the two differ, how often, and why.
set -e
cd "$(dirname "$0")/../.."
answers=simulator/test/accesses/h200.txt
last=600
to=build/test/accesses
mkdir -p "$to"
if [ ! "$to/accesses" -nt simulator/test/accesses/main.cu ]; then
    nvcc -std=c++17 -O2 -lineinfo -cudart shared -gencode 'arch=compute_90,code=[compute_90,sm_90]' -o "$to/accesses" simulator/test/accesses/main.cu
fi

# The counters of memory that are to be equal where an access is alone; advice (ASIDE) is ours alone.
sed -n '/, ASIDE, /!s/^COUNTER([A-Z_0-9]*, [A-Z]*, "\([^"]*\)".*/\1/p' simulator/model/counters.def |
    grep -E '^(l1tex__t_(requests|sectors|set_accesses)_pipe_lsu_mem_(global|local)_op_[a-z]*(_cache_access)?|l1tex__data_.*_mem_shared_op_.*|sm__sass_.*_op_ldgsts)\.sum$' >"$to/counters"

# A line for each: what it says of itself, and its counters that are not 0.
if [ "${DEVICE:-}" = gpu ]; then
    ncu --clock-control none --cache-control none --csv --print-units base --metrics "$(paste -sd, "$to/counters")" "$to/accesses" 1 "$last" >"$to/said"
    awk -F'","' '
        /^[0-9]+ [a-z]/ { line[lines++] = $0 }
        /^"[0-9]/ { sub(/^"/, "", $1); sub(/"$/, "", $NF); gsub(/,/, "", $NF); if ($NF + 0) said[$1] = said[$1] " " $(NF - 2) "=" $NF }
        END { for (id = 0; id < lines; id++) print line[id] said[id] }' "$to/said" >"$to/results"
else
    simulator/run --error-exitcode 0 --profile --json "$to/accesses" 1 "$last" >"$to/lines" 2>"$to/said"
    awk '
        FILENAME ~ /counters$/ { name[names++] = $0; next }
        FILENAME ~ /lines$/ { line[lines++] = $0; next }
        /"event":"kernel"/ {
            said = ""
            for (n = 0; n < names; n++) {
                at = index($0, "\"" name[n] "\":")
                value = at ? substr($0, at + length(name[n]) + 3) + 0 : 0
                if (value) said = said " " name[n] "=" value
            }
            print line[id++] said
        }' "$to/counters" "$to/lines" "$to/said" >"$to/results"
fi
if [ "${1:-}" = --record ]; then
    [ "${DEVICE:-}" = gpu ] || { echo "What is recorded is a GPU's: DEVICE=gpu sh simulator/test/accesses.sh --record NOTE"; exit 1; }
    { echo "# What a real GPU gave in the test of random accesses: $2"; cat "$to/results"; } >"$to/record"
    mv "$to/record" "$answers"
    exit
fi

awk -v known="$(dirname "$answers")/departures.txt" '
    function counters(to, from, fields, n, pair) {
        split("", to)
        for (n = split(from, fields, " "); n; n--) if (split(fields[n], pair, "=") == 2) to[pair[1]] = pair[2]
    }
    function departure(kind, counter, n) {
        for (n = 1; n <= rules; n++) if (kind ~ "^" kinds[n] "$" && counter ~ "^" names[n] "$") return n
    }
    BEGIN {
        while ((getline line <known) > 0) {
            if (line !~ /^[0-9]/) continue
            split(line, word, " "); rules++
            times[rules] = word[1]; kinds[rules] = word[2]; names[rules] = word[3]
        }
    }
    /^#/ { next }
    NR == FNR { answer[$1] = $0; answers++; next }
    {
        counters(here, $0); counters(there, answer[$1])
        kind = $0; sub(/:.*/, "", kind); sub(/^[0-9]+ /, "", kind); gsub(/ /, "_", kind)
        mine = $0; gsub(/ [^ ]*=[^ ]*/, "", mine); yours = answer[$1]; gsub(/ [^ ]*=[^ ]*/, "", yours)
        wrong = mine != yours
        if (wrong) print "access " mine ": a GPU gave " yours
        for (name in there) if (!(name in here)) here[name] = 0
        for (name in here) {
            if (here[name] == there[name] + 0) continue
            if ((n = departure(kind, name))) { seen[n]++; continue }
            print "access " $1 ", " kind ": " name " is " here[name] ", on a GPU " there[name] + 0
            wrong = 1
        }
        failed += wrong
        count++
    }
    END {
        for (n = 1; n <= rules; n++)
            if (seen[n] + 0 != times[n]) { print "departures.txt: " times[n] " times " kinds[n] " " names[n] ", but it is " seen[n] + 0; failed++ }
        if (count != answers) { print count + 0 " accesses, and answers for " answers + 0; failed++ }
        printf "%d passed, %d failed\n", count - failed, failed
        exit failed > 0
    }' "$answers" "$to/results"
