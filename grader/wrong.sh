#!/bin/sh
# Prints a submission of grader/wrong/ whole, as the grader gets it:
#
#     sh grader/wrong.sh grader/wrong/05-transpose/wrong-pitch.edit
#
# NAME.cu is a whole file; NAME.edit replaces regions of the completed exercise, or of a version of the solution
# (solutions/edit.awk). Lines that the verdict must name end in `// <- VERDICT`.
set -u
submission=$1
lesson=$(basename "$(dirname "$submission")")
solution=solutions/$lesson.cu

case $submission in
*.edit)
    marked=$(awk -f solutions/edit.awk "$submission" "$solution") || exit 1
    if grep -q '^// version: ' "$submission"; then
        printf '%s\n' "$marked" | sed '/^[[:space:]]*\/\/[<>|]/d'
    else
        printf '%s\n' "$marked" | awk -v fill=1 -f solutions/strip.awk
    fi
    ;;
*) awk -f solutions/edit.awk "$submission" ;;
esac
