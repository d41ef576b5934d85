#!/bin/sh
# Writes profiles/figures/13-streams-and-graphs.txt, the timelines that lesson 13 draws (book/timeline.awk): versions of its
# solution on the simulated device, as `simulator/run --timeline` has them. From the repository's root:
#
#     sh profiles/figures/13-streams-and-graphs.sh
set -eu
name=13-streams-and-graphs
tree=build/figures
mkdir -p "$tree"

nvcc -std=c++17 -O2 -cudart shared -gencode arch=compute_90,code=compute_90 -Igrader/lessons -o "$tree/$name" \
    "profiles/figures/$name.cu"

# timeline ARGUMENTS...: what it did with these, to $tree/trace.json.
timeline() {
    simulator/run --timeline "$tree/trace.json" "$tree/$name" "$@"
}

# boxes PANEL WINDOW: the trace's work as boxes, chunks numbered in each row, from the first copy or launch on, for so long.
boxes() {
    awk -v panel="$1" -v window="$2" '
        function field(key) { return match($0, "\"" key "\":\"?[^\",}]*") ? substr($0, RSTART + length(key) + 3 + (substr($0, RSTART + length(key) + 3, 1) == "\""), RLENGTH - length(key) - 3 - (substr($0, RSTART + length(key) + 3, 1) == "\"")) : "" }
        field("ph") != "X" { next }
        { name = field("name"); kind = field("cat"); from = field("ts"); to = from + field("dur"); stream = field("tid") - 1 }
        window && kind == "call" { row = name ~ /Launch/ ? "host" : "" }
        !window && kind == "call" { row = "" }
        kind == "kernel" { row = window ? "device" : "kernel" }
        kind == "copy" { row = window ? "" : name ~ /HtoD/ ? "copy in" : "copy out" }
        kind != "call" && kind != "kernel" && kind != "copy" { row = "" }
        row == "" { next }
        !begun { begun = 1; first = from }
        to - first > window && window { next }
        { what = to - from < 3 && !window ? "" : ++counted[row]; lines[++n] = sprintf("%s\t%.3f\t%.3f\t%s\t%d", row, from - first, to - first, what, window ? 1 : stream < 1 ? 1 : stream) }
        END {
            split(window ? "host device" : "copy in,kernel,copy out", order, window ? " " : ",")
            for (o = 1; o in order; o++)
                for (k = 1; k <= n; k++)
                    if (index(lines[k], order[o] "\t") == 1) print panel "\t" lines[k]
        }' "$tree/trace.json"
}

{
    echo "# Written by profiles/figures/$name.sh. Of each panel: row, from and to in microseconds, words, shade"
    timeline stretch 2 8
    boxes "one stream" 0
    timeline stretch 3 8
    boxes "three streams" 0
    timeline stretch 4 8
    boxes "with events" 0
    timeline diffuse 4 100
    boxes "a launch for each step" 40
    timeline diffuse 5 100
    boxes "a graph of twenty" 40
} >"$tree/$name.txt"
mv "$tree/$name.txt" "profiles/figures/$name.txt"
