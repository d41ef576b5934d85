#!/bin/sh
# Puts what the runs printed into a lesson's text, after grader/try.sh has made them:
#
#     grader/fill.sh 05-transpose
#
# Each {.output cmd="..."} of lessons/05-transpose.md is filled from the log of its run in build/try/05-transpose/:
# the skeleton's, the solution's, the edits' in their order, the program's. Look at what changed before you keep it.
set -u
lesson=$1
tree=build/try/$lesson
text=lessons/$lesson.md
[ -f "$tree/skeleton.log" ] || { echo "Type first: sh grader/try.sh $lesson"; exit 1; }

awk -v tree="$tree" -v text="$text" '
    /^```/ && inside { inside = 0 }
    inside { next }
    { print }
    /^```{\.output / {
        log_ = /edit="/ ? "edit-" ++edits : /cmd="make lesson/ ? "skeleton" : /cmd="make solution/ ? "solution-1" : "program"
        log_ = tree "/" log_ ".log"
        while ((more = (getline line <log_)) > 0)
            if (line !~ /^make.*\*\*\*/)
                print line
        if (more < 0) { print text ":" FNR ": there is no " log_ >"/dev/stderr"; bad = 1; exit }
        inside = 1
    }
    END { exit bad }' "$text" >"$tree/filled.md" && cat "$tree/filled.md" >"$text"
