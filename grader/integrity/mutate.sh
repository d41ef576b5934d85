#!/bin/sh
# Lists the mutants of a file: each changes one line, by a rule of grader/integrity/mutations.
#
#     sh grader/integrity/mutate.sh FILE LESSON
#
# A line for each: the line's number, 1 if the student wrote the line and 0 if the lesson's skeleton has it, the rule, and the
# changed line, which a tab each divides. Comments, quoted text and the parts of CHECK are left alone. They need not compile.
set -u
file=$1
lesson=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk -f solutions/strip.awk "solutions/$lesson.cu" >"$scratch/skeleton" || exit 1
diff -w --unchanged-line-format= --old-line-format= --new-line-format="%dn
" "$scratch/skeleton" "$file" >"$scratch/own"

# The lines without comments. Those with quotes or a backslash at their end are left out, as they are strings or macros.
awk '
    { line = $0 }
    /"|\\$/ { print ""; next }
    within { if (!sub(/^.*\*\//, "", line)) { print ""; next } within = 0 }
    { gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line); sub(/\/\/.*/, "", line) }
    sub(/\/\*.*/, "", line) { within = 1 }
    { gsub(/\t/, "    ", line); sub(/[ \r]+$/, "", line); print line }' "$file" >"$scratch/code"

grep -v '^#' grader/integrity/mutations | while read -r rule command; do
    sed -nE "$command;T
=
p" "$scratch/code" | paste - - | sed "s/	/	$rule	/"
done | awk -F '\t' -v OFS='\t' '
    FILENAME == ARGV[1] { own[$1] = 1; next }
    { print $1, ($1 in own) + 0, $2, $3 }' "$scratch/own" - | sort -t '	' -u -k 1,1n -k 3
