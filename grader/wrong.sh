#!/bin/sh
# Prints a submission of grader/wrong/ whole, as the grader gets it:
#
#     sh grader/wrong.sh grader/wrong/05-transpose/wrong-pitch.edit
#
# NAME.cu is a whole file; NAME.edit replaces regions of the completed exercise, or of a version of the solution
# (solutions/edit.awk). Lines that the verdict must name end in `// <- VERDICT`. What it includes by a path within the project
# (`"../attacks/own.h"`) is put in its place: a class's compiler sees none of it.
set -u
submission=$1
lesson=$(basename "$(dirname "$submission")")
solution=solutions/$lesson.cu

# Puts the project's files that are included in their place, but for the contract; each once, unless it is a table (.def).
self_contained() {
    awk '
        function put(line, folder, name) {
            if (line ~ /^#pragma once/) return
            if (!match(line, /^#include "[^"]*"/) || (folder == "grader/lessons" && line !~ /"\.\.\//)) { print line; return }
            name = substr(line, 11, RLENGTH - 11)
            for (; sub(/^\.\.\//, "", name); ) if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
            if (!show((folder == "" ? "" : folder "/") name)) print line
        }
        function show(file, folder, line, found) {
            if (file in shown && file !~ /\.def$/) return 1
            shown[file] = 1
            folder = file
            sub(/\/[^\/]*$/, "", folder)
            while ((getline line <file) > 0) { put(line, folder); found = 1 }
            close(file)
            return found
        }
        { put($0, "grader/lessons") }'
}

case $submission in
*.edit)
    whole=$(awk -f solutions/edit.awk "$submission" "$solution") || exit 1
    if grep -q '^// version: ' "$submission"; then
        whole=$(printf '%s\n' "$whole" | sed '/^[[:space:]]*\/\/[<>|]/d')
    else
        whole=$(printf '%s\n' "$whole" | awk -v fill=1 -f solutions/strip.awk)
    fi
    ;;
*) whole=$(awk -f solutions/edit.awk "$submission") || exit 1 ;;
esac
printf '%s\n' "$whole" | self_contained
