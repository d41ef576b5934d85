#!/bin/sh
# The files of simulator/client/ use one another in the order that client.h states: by what they include, and by the
# symbols of their objects. Then that a violation of each kind is found.
set -u
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# places SOURCES: `file number` for each that client.h names, the number of its line in the order.
places() {
    awk '/^\/\/   [a-z]/ { n++; line = $0; sub(/^\/\/ +[a-z]+ +/, "", line) }
         /^\/\/    +[a-z_]+\.[ch]/ { line = $0; sub(/^\/\/ +/, "", line) }
         n && !/^\/\/   / { exit }
         n { for (i = split(line, file, " "); i > 0; i--) print file[i], n }' "$1/client.h"
}

# included SOURCES: `file used` for each of our own headers that a file includes.
included() {
    grep -H '^#include "' "$1"/*.[ch] | sed 's|^.*/\([^/]*\):#include "\(.*\)".*|\1 \2|'
}

# called SOURCES OBJECTS: `file used (by its symbol)` for each that an object needs of another.
called() {
    for source in "$1"/*.c; do
        object=$2/$(basename "$source" .c).o
        [ -f "$object" ] || { echo "$(basename "$source") -"; continue; }
        nm -g "$object" | awk -v file="$(basename "$source")" '{ print file, $(NF - 1), $NF }'
    done | awk '$2 == "-" { print; next } $2 != "U" { home[$3] = $1; next } { user[++n] = $1; symbol[n] = $3 }
        END { for (i = 1; i <= n; i++) if (symbol[i] in home) print user[i], home[symbol[i]], "(" symbol[i] ")" }'
}

# amiss SOURCES OBJECTS: a line for each thing that is.
amiss() {
    places "$1" >"$scratch/places"
    ls "$1" | grep '\.[ch]$' >"$scratch/files"
    { included "$1"; called "$1" "$2"; } | sort -u | awk -v places="$scratch/places" -v files="$scratch/files" '
        function place(file,   c) {
            c = file; sub(/\.h$/, ".c", c)
            return file in at ? at[file] : at[c]
        }
        BEGIN {
            while ((getline line <places) > 0) { split(line, word, " "); at[word[1]] = word[2] }
            while ((getline file <files) > 0) {
                there[file] = 1
                if (!place(file)) print file ": is in no line of client.h"
            }
            for (file in at) if (!(file in there)) print file ": is named in client.h, but is not there"
        }
        $1 == $2 { next }
        $2 == "-" { print $1 ": has no object; type make simulated"; next }
        there[$2] && place($2) > place($1) { print $1 ": uses " $2 " " $3 ", which is above it" }
        !there[$2] && !($2 ~ /^(wire.*|inside)\.h$|\.inc$/) { print $1 ": uses " $2 ", which is not the client'"'"'s" }'
}

failed=0 passed=0
sources=simulator/client objects=build/objects/simulator/client
if amiss $sources $objects >"$scratch/says" && [ ! -s "$scratch/says" ]; then
    passed=$((passed + 1))
else
    cat "$scratch/says"
    failed=$((failed + 1))
fi

# finds WORDS COMMAND: after COMMAND in a copy, WORDS are said.
finds() {
    rm -rf "$scratch/it"
    mkdir -p "$scratch/it/objects"
    cp -R $sources "$scratch/it/client"
    cp $objects/*.o "$scratch/it/objects"
    (cd "$scratch/it" && sh -c "$2") || exit 1
    if amiss "$scratch/it/client" "$scratch/it/objects" | grep -qF "$1"; then
        passed=$((passed + 1))
    else
        echo "client.sh does not find what was done by: $2"
        failed=$((failed + 1))
    fi
}
calls() {
    echo "echo 'void $2(void); void planted(void) { $2(); }' | gcc -c -x c -o more.o - && ld -r -o both.o objects/$1.o more.o && mv both.o objects/$1.o"
}
finds 'transport.c: uses client.h , which is above it' "sed -i '1s|^|#include \"client.h\"\n|' client/transport.c"
finds 'shared.c: uses graph.h , which is above it' "sed -i '1s|^|#include \"graph.h\"\n|' client/shared.c"
finds "error.c: uses runtime/serve.h, which is not the client's" "sed -i '1s|^|#include \"runtime/serve.h\"\n|' client/error.c"
finds 'transport.c: uses error.c (client_done), which is above it' "$(calls transport client_done)"
finds 'default_stream.c: uses capture.c (capture_forbids), which is above it' "$(calls default_stream capture_forbids)"
finds 'extra.c: is in no line' 'touch client/extra.c'
finds 'fault.c: is named in client.h, but is not there' 'rm client/fault.c'

echo "the order of the client's files: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
