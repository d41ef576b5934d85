#!/bin/sh
# The desk's commands word for word, in a small tree of their own whose grader is a script: each case's output is
# study/NAME.expected. And watching, in a real terminal (tmux). `sh grader/test/study.sh NAME` shows one case.
set -u
only=${1:-}
passed=0 failed=0
here=$PWD/grader/test/study
root=$PWD/build/test/study.$$
program=$root/build/grader/study
tmux="tmux -L warpwise-test-$$ -f /dev/null"
trap '$tmux kill-server 2>/dev/null; rm -rf "$root"' EXIT
mkdir -p build/test
rm -rf "$root"
cp -R "$here/tree" "$root"
mkdir -p "$root/build/grader" "$root/exercises"
cp solutions/strip.awk "$root/solutions/"
cp "$here/grader" "$root/build/grader/98-sample"
cp "$here/grader" "$root/build/grader/99-other"
# shellcheck disable=SC2046
gcc -std=gnu17 -O1 -Wall -Wextra -Werror -Igrader -o "$program" grader/study/*.c \
    $(sed -n 's/^study := //p' grader/grader.mk | sed 's|[a-z]\{1,\}|grader/&.c|g') -ljansson -lconfig -lz -lm || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS MAKE_TERMOUT NO_COLOR CLICOLOR_FORCE COLUMNS HINT YES CHECK WATCH
cd "$root" || exit 1

good() { passed=$((passed + 1)); }
bad() {
    echo "$1"
    failed=$((failed + 1))
}

fresh() {
    rm -rf build/hints build/results build/profile exercises
    mkdir -p exercises
    printf 'load\n\tstore(32);\nadd\n' >exercises/98-sample.cu
    printf '// TODO\n' >exercises/99-other.cu
}

# case NAME WORD...: what the words print on a pipe, in plain ASCII unless they say otherwise.
case_() {
    name=$1
    shift
    [ -z "$only" ] || [ "$only" = "$name" ] || return
    { env LC_ALL=C TERM=xterm "$@"; echo "exit status $?"; } >"$name.says" 2>&1
    compare "$name"
}

compare() {
    if [ -n "$only" ]; then
        cat "$1.says"
    elif cmp -s "$here/$1.expected" "$1.says"; then
        good
    else
        bad "$1: not the words expected"
        diff "$here/$1.expected" "$1.says" | sed 's/^/    /'
    fi
}

# ---- Hints

fresh
all_hints='for i in 1 2 3 4; do build/grader/study hint 98-sample; done'
case_ hints sh -c "$all_hints"
case_ hint-again env HINT=1 build/grader/study hint 98-sample
case_ hint-next build/grader/study hint 98-sample
case_ hint-beyond env HINT=7 build/grader/study hint 98-sample
case_ hint-none build/grader/study hint 99-other
fresh
case_ hints-60 env COLUMNS=60 sh -c "$all_hints"
fresh
case_ hints-utf-8 env LC_ALL=C.UTF-8 sh -c "$all_hints"
fresh
case_ hint-coloured env CLICOLOR_FORCE=1 build/grader/study hint 98-sample
case_ hint-no-colour env CLICOLOR_FORCE=1 NO_COLOR=1 build/grader/study hint 98-sample

# ---- The quiz

case_ quiz-right sh -c 'echo b ac | build/grader/study quiz 98-sample'
case_ quiz-wrong sh -c 'printf "a\nz9\nA\n" | build/grader/study quiz 98-sample'
case_ quiz-stopped sh -c 'printf "b\nq\n" | build/grader/study quiz 98-sample'
case_ quiz-no-answers sh -c 'build/grader/study quiz 98-sample </dev/null'
case_ quiz-60 sh -c 'echo b ac | COLUMNS=60 build/grader/study quiz 98-sample'
case_ quiz-none build/grader/study quiz 99-other

# ---- Beginning anew

fresh
case_ reset-asks sh -c 'build/grader/study reset 98-sample </dev/null; cat exercises/98-sample.cu; ls exercises'
case_ reset env YES=1 sh -c 'build/grader/study reset 98-sample; cat exercises/*; ls exercises'
case_ reset-fresh sh -c 'build/grader/study reset 98-sample; ls exercises'
case_ reset-second env YES=1 sh -c 'echo more >>exercises/98-sample.cu; build/grader/study reset 98-sample; ls exercises'
case_ reset-missing sh -c 'rm exercises/98-sample.cu; build/grader/study reset 98-sample; ls exercises'

# ---- Progress and profile

fresh
case_ progress-none build/grader/study progress
case_ profile build/grader/study profile 98-sample
case_ profile-60 env COLUMNS=60 build/grader/study profile 98-sample
case_ profile-no-check env CHECK=large build/grader/study profile 98-sample
case_ profile-todo build/grader/study profile 99-other
case_ profile-leaves-no-result build/grader/study progress
build/grader/98-sample exercises/98-sample.cu >/dev/null
case_ progress build/grader/study progress

# What was graded is not graded again, unless something is newer. Here a grader that finds nothing would.
cp build/grader/98-sample kept
printf '#!/bin/sh\necho "GRADED AGAIN"\n' >build/grader/98-sample
touch -d "1 hour ago" build/grader/98-sample
export PROFILE=fake
case_ profile build/grader/study profile 98-sample
case_ profile-anew env SEED=other build/grader/study profile 98-sample
touch -d '1 minute' build/grader/98-sample
case_ profile-anew build/grader/study profile 98-sample
cp kept build/grader/98-sample
unset PROFILE
echo PASS >exercises/98-sample.cu
touch -d '+1 minute' exercises/98-sample.cu
case_ progress-edited env COLUMNS=60 build/grader/study progress
echo PASS >exercises/98-sample.cu
build/grader/98-sample exercises/98-sample.cu >/dev/null
case_ progress-passed env CLICOLOR_FORCE=1 build/grader/study progress
echo PASS, GOLD >exercises/98-sample.cu
build/grader/98-sample exercises/98-sample.cu >/dev/null
case_ progress-gold build/grader/study progress

# ---- Our answer beside one that passes

fresh
case_ compare-not-yet build/grader/study compare 98-sample
mkdir -p build/results
sed '1,/"verdict"/s/"verdict": "SLOW"/"verdict": "PASS"/; s/"value": 8/"value": 1/' grader-says.json >build/results/98-sample.json
case_ compare build/grader/study compare 98-sample
touch -d '+1 minute' exercises/98-sample.cu
case_ compare-not-yet build/grader/study compare 98-sample
case_ usage build/grader/study hint nonsense

[ -z "$only" ] || exit

# ---- On a terminal: what it prints there is the same but for colours

on_terminal() {
    script -qec "$1" /dev/null </dev/null | tr -d '\r'
}
plain() { sed 's/\x1b\[[0-9;]*m//g'; }
fresh
printf '\033' >escape
on_terminal 'env LC_ALL=C TERM=xterm COLUMNS=72 HINT=1 build/grader/study hint 98-sample' >terminal.says
if grep -qf escape terminal.says; then good; else bad 'on a terminal: no colours'; fi
{ plain <terminal.says; echo 'exit status 0'; } >hint-again.says
compare hint-again
on_terminal 'env LC_ALL=C TERM=dumb COLUMNS=72 HINT=1 build/grader/study hint 98-sample' >terminal.says
if grep -qf escape terminal.says; then bad 'TERM=dumb: colours'; else good; fi

# Beginning anew asks there, and takes no for an answer.
answers() {
    printf '%s\n' "$1" | script -qec 'build/grader/study reset 98-sample' /dev/null >terminal.says
}
fresh
if answers n && grep -q store exercises/98-sample.cu && [ ! -e 'exercises/98-sample.cu.~1~' ]; then good; else
    bad 'reset: a no should change nothing, and be no failure'; fi
if answers y && grep -q TODO exercises/98-sample.cu && grep -q store 'exercises/98-sample.cu.~1~'; then good; else
    bad 'reset: a yes should begin anew, and keep the old work'; fi

# ---- Watching, as a student does: edits, keys, the end

screen() { $tmux capture-pane -p -J -S - -t watch; }
keys() { $tmux send-keys -t watch "$@"; }

# shows WORDS [COUNT]: within half a minute, also on a busy machine, the terminal has them, that often.
shows() {
    for _ in $(seq 300); do
        [ "$(screen | grep -cF -- "$1")" -ge "${2:-1}" ] && { good; return; }
        sleep 0.1
    done
    bad "watching ($mode): the terminal should show \"$1\" ${2:-once}, but has:"
    screen | sed '/^$/d; s/^/    /'
}

# ends: the program is gone, the terminal is as it was, and nothing is left behind.
ends() {
    keys 'stty -a | grep -o " -*icanon\| -*echo "; echo END$?' Enter
    shows 'END0'
    if screen | grep -qE -- ' -(icanon|echo )'; then bad "watching ($mode): the terminal is not as it was"; else good; fi
    if ps -eo args | grep -F "$root" | grep -v grep | grep -q inotifywait; then
        bad "watching ($mode): inotifywait is left behind"
    else
        good
    fi
}

watching() {
    mode=$1
    fresh
    echo '// TODO' >exercises/98-sample.cu
    $tmux new-session -d -s watch -x "$2" -y 50 "env LC_ALL=C WATCH=$1 sh"
    keys "cd '$root' && PS1='$ ' && clear && $3" Enter
    shows 'TODO    lesson 98'
    echo '// BOUNDS' >exercises/98-sample.cu
    shows 'BOUNDS  lesson 98'
    keys h
    shows 'HINT    lesson 98: 1 of 3, the idea'
    echo '// PASS' >exercises/new && mv exercises/new exercises/98-sample.cu      # as many editors save
    shows 'PASS    lesson 98'
    sleep 0.7                       # longer than looking twice a second
    if screen | grep -q 'lesson 99'; then bad "watching ($mode): goes on by itself"; else good; fi
    keys l
    shows 'Next: make lesson-99'
    keys x
    keys n
    shows 'make ready-99'
    shows 'TODO    lesson 99'
    keys n
    shows 'This is the last lesson.'
    touch exercises/99-other.cu
    shows 'TODO    lesson 99' 2
    keys "$4"
    ends
    $tmux kill-session -t watch
}

if command -v tmux >/dev/null; then
    watching notify 80 'build/grader/study watch 98-sample' q
    watching poll 60 'build/grader/study watch' q
    watching notify 60 'build/grader/study watch' C-c
else
    bad 'watching cannot be tested: tmux is missing. Type: make setup'
fi

echo "the desk: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
