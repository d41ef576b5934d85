#!/bin/sh
# The order of the simulated device's rooms (rooms.txt), and what goes against it: a line each, none if all is well.
#
#     sh simulator/rooms.sh order
#     sh simulator/rooms.sh includes
#     sh simulator/rooms.sh symbols OBJECTS     of what the sources were compiled to, build/objects/simulator
set -u
objects=$(cd "${2:-.}" && pwd) || exit 1
cd "$(dirname "$0")" || exit 1

# The part of an awk program that knows the rooms: rank[room]; may[room, other] of what is compiled apart.
rooms='
function room_of(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "main" }
function may_know(room, other) {
    return room == other || (room, other) in may || (room in rank && other in rank && rank[other] < rank[room])
}
FILENAME == "rooms.txt" {
    sub(/#.*/, "")
    if (sub(/:/, "")) { apart[$1]; for (n = 2; n <= NF; n++) may[$1, $n] }
    else for (n = 1; n <= NF; n++) rank[$n] = FNR
    next
}'

# The sources. What tests and measures stands outside of all rooms.
sources() {
    find . -name '*.[ch]' -o -name '*.def' -o -name '*.cu' | sed 's|^\./||' | grep -vE '^(test|bench)/' | sort
}

order() {
    sed 's/#.*//; /:/d; /^ *$/d; s/  */, /g' rooms.txt | paste -sd '<' | sed 's/</ < /g'
}

# Each quoted include, as `file:line:header`. A header lies beside the file, or has its path from here.
includes() {
    { sources; echo; sources | xargs grep -nH '^#include "' /dev/null | sed 's/:#include "/:/; s/".*//'; } | awk "$rooms"'
        function simple(path) { while (sub(/[^\/]+\/\.\.\//, "", path)) {} return path }
        !split_seen && NF == 0 { split_seen = 1; next }
        !split_seen { there[$0]; if (!(room_of($0) in rank) && !(room_of($0) in apart)) print "simulator/" $0 ": lies in no room of rooms.txt"; next }
        {
            split($0, part, ":")
            beside = part[1]; sub(/[^\/]*$/, "", beside)
            header = simple(beside part[3])
            if (!(header in there)) header = part[3]
            if (header in there && !may_know(room_of(part[1]), room_of(header)))
                print "simulator/" part[1] ":" part[2] ": " room_of(part[1]) " includes simulator/" header
        }' rooms.txt -
}

# Each name that one room leaves to the linker and another defines. Objects whose source is gone do not count.
symbols() {
    sources | sed -n 's|\.c$|.o|p' | awk "$rooms"'room_of($0) in rank' rooms.txt - |
        (cd "$objects" && xargs nm -A 2>&1) | awk "$rooms"'
        /No such file/ { split($0, part, "\047"); print "simulator/" part[2] ": is not compiled"; next }
        { split($1, part, ":"); file = part[1]; kind = $(NF - 1); name = $NF }
        kind ~ /^[TDBRVWC]$/ { definer[name] = file }
        kind == "U" { user[++count] = file; used[count] = name }
        END {
            for (n = 1; n <= count; n++) {
                of = definer[used[n]]
                if (of != "" && !may_know(room_of(user[n]), room_of(of)))
                    print "simulator/" user[n] ": " room_of(user[n]) " links " used[n] " of simulator/" of
            }
        }' rooms.txt - | sort -u | sed 's/\.o\b/.c/g'
}

case $1 in
includes) includes ;;
symbols) symbols ;;
*) order ;;
esac
