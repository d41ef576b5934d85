#!/bin/sh
# Tries one lesson out, for `make test`:
#
#     grader/try.sh 05-transpose               every case, then the counts
#     grader/try.sh 05-transpose copied.edit   one wrong submission, or one that cheats (and `home` or `class`: in that form)
#
# The cases: what a student does (the skeleton gives TODO, or its mistake's verdict; the completed skeleton PASS); our own solution
# (PASS, with the same figures as the completed skeleton); its versions, each of which is right, and keeps the
# bounds that the profile says (claims.h: version, gold_version), also in what was recorded on a GPU; the lesson's
# text, which shows what these print, and what a change prints that it talks the reader into ({.output cmd="make
# lesson-5" edit="/__syncthreads/d"}: sed's words, applied to the skeleton with its blanks filled in, or, after
# version="4", to that version of the solution); its peers, which compile; and each submission
# in grader/wrong/05-transpose/ and grader/attacks/05-transpose/, which wrong.sh makes whole (the verdict of its `// expect:` line, the source lines of its
# `// at:` lines, the words of its `// says:` line, and what to do next; with the seed of its `// seed:` line, if it has one). One with
# a `// class:` line is graded in the sandbox too, as a class's submissions are, or there alone: the verdict is that line's, and the
# words those of a `// says:` line after it. All of it happens in a tree of its own, build/try/05-transpose:
# what you have in exercises/ is neither read nor touched.
set -u
lesson=$1
only=${2:-}
[ -f "solutions/$lesson.cu" ] || { echo "grader/try.sh: there is no lesson $lesson. Name one as lessons/ does: 05-transpose" >&2; exit 2; }
number=$(expr "$lesson" : '0*\([0-9]*\)-')
tree=build/try/$lesson
passed=0 failed=0
unset MAKEFLAGS MAKELEVEL MFLAGS

# A tree like this one, made of links, but with fresh exercises and no results.
plant() {
    rm -rf "$tree"
    mkdir -p "$tree/exercises" "$tree/wrong" "$tree/build"
    for part in Makefile book grader lessons profiles setup simulator solutions; do
        ln -s "$PWD/$part" "$tree/$part"
    done
    for part in grader objects setup simulator; do
        ln -s "$PWD/build/$part" "$tree/build/$part"
    done
    for solution in solutions/*.cu; do
        awk -f solutions/strip.awk "$solution" >"$tree/exercises/${solution##*/}"
    done
}

# Prints what a case got wrong, and the output it got it from.
complain() {
    echo "$1"
    sed 's/^/    /' "$2"
    return 1
}

# What nvcc leaves out here: of libstdc++ what <cmath> alone wants (Bessel's functions, and std::min with them), of libcu++ the
# numbers of 16 bits and less, and its clocks. None of it changes what is made of a lesson's file, and all of it is read three
# times a file, in most of nvcc's time. A submission that does want it gets a BUILD that no student has, never another verdict.
lean="${NVCC_APPEND_FLAGS:-} -D_GLIBCXX_BITS_SPECFUN_H -DCCCL_DISABLE_FP16_SUPPORT"
export NVCC_APPEND_FLAGS="$lean"
grep -q '^#include <cuda/' "solutions/$lesson.cu" && NVCC_APPEND_FLAGS="$NVCC_APPEND_FLAGS -include $PWD/simulator/test/no_chrono.h"

# run LOG COMMAND...: runs it in the tree, and says whether it ended well. A process that takes a minute of the processor
# is killed: no student waits that long for what a mistake is to be called.
run() {
    log=$PWD/$1
    shift
    (ulimit -S -t 60; cd "$tree" && env COLUMNS= "WARPWISE_TRY=$log" "DEVICE=$PWD/simulator/run" "$@" >"$log" 2>&1 </dev/null)
}

# Is a process that was started for a log still there? It has the log's name in its environment. One that is being
# killed may take a moment to be gone.
left_behind() {
    for moment in 1 2 3 4 5 6 7 8 9 10; do
        grep -lzqF "WARPWISE_TRY=$PWD/$1" /proc/[0-9]*/environ 2>/dev/null || return 1
        sleep 0.1
    done
}

# first LOG VERDICT: the verdict is the first word of a line, in the terminal's words.
first() {
    grep -qE "^$2( |$)" "$1"
}

# says LOG WORDS: the words, wherever the terminal broke the line.
says() {
    tr -s ' \n' '  ' <"$1" | grep -qF -- "$2"
}

# names LOG FILE LINE: that line of the file.
names() {
    tr -s ' \n' '  ' <"$1" | grep -qE "$2:$3([^0-9]|\$)|line $3 of $2"
}

# A skeleton that is to be mended, not completed, gets the verdict of a mistake: which one, the text shows.
skeleton_is_wrong() {
    log=$tree/skeleton.log
    run "$log" make -s "lesson-$number" && { complain "$lesson: the skeleton passes" "$log"; return 1; }
    first "$log" '(BOUNDS|RACE|TIMEOUT|CRASH|MEMORY|WRONG)' ||
        complain "$lesson: the skeleton's mistake has no verdict" "$log"
}

skeleton_is_todo() {
    log=$tree/skeleton.log
    line=$(grep -n 'TODO' "$tree/exercises/$lesson.cu" | head -n 1 | cut -d: -f1)
    run "$log" make -s "lesson-$number" && { complain "$lesson: the skeleton passes" "$log"; return 1; }
    first "$log" TODO || { complain "$lesson: the skeleton does not give TODO" "$log"; return 1; }
    says "$log" "exercises/$lesson.cu:$line" ||
        { complain "$lesson: TODO does not name exercises/$lesson.cu:$line" "$log"; return 1; }
    says "$log" "make lesson-$number" ||
        { complain "$lesson: TODO does not name the next command" "$log"; return 1; }
}

# What a student who finishes has: the skeleton with every blank filled in.
completed_is_pass() {
    log=$tree/completed.log
    sed '/^[[:space:]]*\/\/[<>|]/d' "solutions/$lesson.cu" >"$tree/exercises/$lesson.cu"
    run "$log" make -s "lesson-$number" && first "$log" PASS ||
        complain "$lesson: the completed skeleton does not pass" "$log"
}

solution_is_pass() {
    log=$tree/solution-$1.log
    run "$log" make -s "solution-$number" && first "$log" PASS ||
        complain "$lesson: the solution does not pass" "$log"
}

# The completed skeleton is our solution but for its markers.
figures_are_the_same() {
    sed 's|build/results/solutions/|build/results/|' "$tree/solution-1.log" | diff "$tree/completed.log" - >"$tree/figures.log" || {
        complain "$lesson: two runs of the solution do not print the same figures" "$tree/figures.log"
    }
}

# The versions before the last, which the solution takes by itself. Each is right, be it ever so slow.
versions=$(sed -n 's|^#define VERSION \([0-9]*\).*|\1|p' "solutions/$lesson.cu")
version_is_right() {
    log=$tree/version-$1.log
    [ ! -f "$tree/build/version-$1.json" ] || return 0
    run "$log" "build/grader/$lesson" --define "VERSION=$1" --result "build/version-$1.json" "solutions/$lesson.cu" ||
        first "$log" SLOW || complain "$lesson: version $1 of the solution is not right" "$log"
}

# The profile says which version is the first to keep a bound: that one does, and the one before does not.
versions_are_held() {
    before=$(seq -f 'build/version-%g.json' 1 $((${versions:-1} - 1)))
    # shellcheck disable=SC2086
    run "$tree/held.log" "build/grader/$lesson" --hold $before "build/results/solutions/$lesson.json" ||
        complain "profiles/lessons/$lesson.cfg: not what the versions do" "$tree/held.log"
}

recorded_are_held() {
    run "$tree/held-gpu.log" "build/grader/$lesson" --hold gpu "$1/$lesson.json" "${versions:-1}" ||
        complain "profiles/lessons/$lesson.cfg: not what $1 has of the versions" "$tree/held-gpu.log"
}

# The peers compile, though nothing is timed here: as far as PTX, which takes in the host's functions too, and with nothing
# optimised, as CUB's kernels would take a dozen seconds. 2: a library's header is not on this machine.
compile_peers() {
    run "$tree/peers.log" "${NVCC:-nvcc}" -std=c++17 -arch=sm_90 -I grader/lessons -ptx -Xcicc -O0 -o peers.ptx "$peers" && return
    grep -q 'fatal error: .*: No such file' "$tree/peers.log" && return 2
    complain "$peers: does not compile" "$tree/peers.log"
}

# The last version is the expert's, if the simulated device can tell.
solution_is_gold() {
    grep -q '"gold": false' "$tree/build/results/solutions/$lesson.json" || return 0
    complain "$lesson: the solution misses a gold bound" "$tree/solution-1.log"
}

# Each of its variants can be done, and takes its task to be done; the first is as hard as the lesson, version by version.
variant_is_held() {
    run "$tree/variant-$2.log" sh grader/variant.sh "$1" "$lesson" "$2" && return
    complain "grader/variants/$lesson: not what it should be" "$tree/variant-$2.log"
}

# The lesson's text shows what a run printed, to the letter; make's own last line is not part of it.
text_shows() {
    log=$tree/$1.log
    sed '/^make.*\*\*\*/d' "$log" | awk '
        FNR == NR { shown = shown $0 "\n"; next }
        { text = text $0 "\n" }
        END { exit !index(text, "```{.output") || !index(text, "\n" shown "```") }' - "lessons/$lesson.md" ||
        complain "lessons/$lesson.md: does not show what $2 prints now" "$log"
}

# The changes that the text proposes, one a line: the version that is changed (0: the filled skeleton), and sed's words.
edits() {
    sed -n 's/^```{\.output .*version="\([0-9]*\)" edit="\([^"]*\)".*}$/\1 \2/p; t
        s/^```{\.output .*edit="\([^"]*\)".*}$/0 \1/p' "lessons/$lesson.md"
}

text_shows_edit() {
    exercise=$tree/exercises/$lesson.cu
    before=$tree/filled.cu
    if [ "$2" -gt 0 ]; then
        before=$tree/version.cu
        sed "/^[[:space:]]*\/\/[<>|]/d; s/^#define VERSION .*/#define VERSION $2/" "solutions/$lesson.cu" >"$before"
    fi
    sed "$3" "$before" >"$exercise"
    cmp -s "$before" "$exercise" && [ -n "$3" ] &&
        { complain "lessons/$lesson.md: the edit $3 changes nothing" "$exercise"; return 1; }
    rm -f "$tree/build/results/$lesson.json"      # the run before is of something else
    run "$tree/$1.log" make -s "lesson-$number"
    # A version as it is, which is run for the text, need not be run once more for the profile.
    [ -n "$3" ] || [ "$2" -eq 0 ] || cp "$tree/build/results/$lesson.json" "$tree/build/version-$2.json"
    text_shows "$1" "make lesson-$number, after sed '$3',"
}

# A whole program in the text, as the text compiles and runs it: its commands are those of the block after it.
text_shows_program() {
    cp "$tree/filled.cu" "$tree/exercises/$lesson.cu"
    sed -n '/^```sh$/,/^```$/{/^nvcc/p}' "lessons/$lesson.md" >"$tree/compile.sh"
    run "$tree/compile.log" sh -e compile.sh && run "$tree/program.log" simulator/run --profile ./main ||
        { complain "lessons/$lesson.md: its program does not run" "$tree/compile.log"; return 1; }
    text_shows program "simulator/run --profile ./main"
}

# Its hints come one at a time, and its quiz has all its questions.
hints_come() {
    for k in 1 2 3; do
        log=$tree/hint-$k.log
        run "$log" make -s "hint-$number" && grep -q "^HINT *lesson $number: $k of 3" "$log" ||
            { complain "$lesson: make hint-$number does not show hint $k" "$log"; return 1; }
    done
}

quiz_comes() {
    log=$tree/quiz.log
    questions=$(sed -n '/^## Quiz/,/^## Sources/p' "lessons/$lesson.md" | grep -cE '^[0-9]+\. ')
    run "$log" make -s "quiz-$number" && grep -q "^QUIZ *lesson $number: $questions questions" "$log" &&
        [ "$(grep -cE '^[0-9]+\. ' "$log")" -eq "$questions" ] ||
        complain "$lesson: make quiz-$number does not show its $questions questions" "$log"
}

# What the completed exercise moved, down to the lines of the file.
profile_comes() {
    log=$tree/profile.log
    run "$log" make -s "profile-$number" && first "$log" PROFILE && says "$log" 'By source line' &&
        says "$log" 'at least' && grep -qE '^ +[0-9]+  .*;' "$log" ||
        complain "$lesson: make profile-$number shows no profile" "$log"
}

# stated FILE WORD FORM: what a submission's first comments say of a form: `home`, what stands before `// class:`; `class`, the rest.
stated() {
    awk -v word="// $2: " -v form="$3" '
        !/^\/\// { exit }
        /^\/\/ class: / { within = 1 }
        (form == "class") == within && index($0, word) == 1 { print substr($0, length(word) + 1); exit }' "$1"
}

# The forms that a submission is graded in.
forms() {
    grep -q '^// expect: ' "$1" && echo home
    grep -q '^// class: ' "$1" && echo class
}

# As a student's grader does, who types make.
grade_at_home() {
    run "$log" env ${seed:+"SEED=$seed"} "build/grader/$lesson" --result "$result" "$whole"
}

# As make grade does (grader/class/run.c): of a sealed copy, in the sandbox.
grade_in_class() {
    run "$log" env -C "$PWD/$tree/sealed/$name" SEED=5eed "WARPWISE_SANDBOX=$PWD/build/grader/sandbox" NO_COLOR=1 \
        NVCC_APPEND_FLAGS="$lean" "$PWD/$tree/build/grader/$lesson" --result "$PWD/$tree/$result" "exercises/$lesson.cu"
}

verdicts=$(sed -n 's/^ *X([A-Z_]*, "\([A-Z-]*\)").*/\1/p' grader/verdict.h | paste -sd '|')

# No verdict but its own begins a line, and nothing reaches the terminal that a line of text has not.
is_clean() {
    ! grep -E "^($verdicts)( |\$)" "$log" | grep -qvE "^$first( |\$)" && ! tr -d '\t\n' <"$log" | LC_ALL=C grep -q '[[:cntrl:]]'
}

# is_caught FILE FORM
is_caught() {
    wrong=$(ls "grader/wrong/$lesson/$1" "grader/attacks/$lesson/$1" 2>/dev/null)
    name=${1%.*}
    # Both forms are graded at the same time, each from a file of its own.
    case $2 in home) whole=wrong/$name.cu ;; class) whole=sealed/$name/exercises/$lesson.cu ;; esac
    mkdir -p "$tree/${whole%/*}"
    log=$tree/wrong-$name-$2.log result=build/wrong-$name-$2.json
    verdict=$(stated "$wrong" "$([ "$2" = class ] && echo class || echo expect)" "$2")
    words=$(stated "$wrong" says "$2")
    seed=$(stated "$wrong" seed "$2")
    called=${whole##*/}
    sh grader/wrong.sh "$wrong" >"$tree/$whole" || return 1

    if [ "$2" = class ]; then grade_in_class; else grade_at_home; fi
    ended=$? wanted=1
    [ "$verdict" != PASS ] || wanted=0
    [ $ended -eq $wanted ] || { complain "$wrong: should be $verdict ($2), and ends with $ended" "$log"; return 1; }
    case $verdict in
    STEP*)      # right, and no further up the ladder
        grep -q "\"step\": ${verdict#STEP }[,}]" "$tree/$result" ||
            { complain "$wrong: should reach step ${verdict#STEP }" "$log"; return 1; }
        first=SLOW ;;
    *) first=$verdict ;;
    esac
    first "$log" "$first" || { complain "$wrong: should be $verdict ($2)" "$log"; return 1; }
    is_clean || { complain "$wrong: its own words look like the grader's" "$log"; return 1; }
    [ $wanted -eq 0 ] || says "$log" 'Next: ' || { complain "$wrong: should say what to do next" "$log"; return 1; }
    for line in $(grep -n " // <- $verdict\$" "$tree/$whole" | cut -d: -f1); do
        names "$log" "$called" "$line" || { complain "$wrong: should name $whole:$line" "$log"; return 1; }
    done
    [ -z "$words" ] || says "$log" "$words" || { complain "$wrong: should say: $words" "$log"; return 1; }
    ! left_behind "$log" || { complain "$wrong: leaves processes behind" "$log"; return 1; }
}

count() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

if [ -n "$only" ]; then
    [ -d "$tree" ] || plant
    for form in ${3:-$(forms "grader/"*"/$lesson/$only")}; do is_caught "$only" "$form" || exit 1; done
    exit 0
fi

plant
if grep -q '// TODO: ' "$tree/exercises/$lesson.cu"; then count skeleton_is_todo; else count skeleton_is_wrong; fi
count text_shows skeleton "make lesson-$number"
count hints_come
count quiz_comes
count completed_is_pass
count profile_comes
count solution_is_pass 1
count figures_are_the_same
count text_shows solution-1 "make solution-$number"
count solution_is_gold
peers=grader/lessons/$lesson.peer.cu
if [ -f "$peers" ]; then
    compile_peers
    case $? in
    2) echo "$peers: not compiled here, $(grep -o '[^ ]*: No such file.*' "$tree/peers.log" | head -n 1)" ;;
    *) count [ -f "$tree/peers.ptx" ] ;;
    esac
fi
awk -v fill=1 -f solutions/strip.awk "solutions/$lesson.cu" >"$tree/filled.cu"
edits >"$tree/edits"
while read -r version edit; do
    edited=$((${edited:-0} + 1))
    count text_shows_edit "edit-$edited" "$version" "$edit"
done <"$tree/edits"
for version in $(seq 1 $((${versions:-1} - 1))); do count version_is_right "$version"; done
count versions_are_held
kind=prove
for word in $(VARIANT=none "build/grader/$lesson" "solutions/$lesson.cu" 2>&1 |
    sed -n 's/^ *\([a-z]*\)-C-SIZE, where C is a number from \([0-9]*\) to .*/\1-\2-0815/p'); do
    count variant_is_held $kind "$word"
    kind=try
done
for results in profiles/results/*/; do count recorded_are_held "${results%/}"; done
awk '/^```{.cuda}$/ { inside = 1; next } /^```/ { inside = 0 } inside' "lessons/$lesson.md" >"$tree/main.cu"
if grep -q 'int main(' "$tree/main.cu"; then count text_shows_program; fi

# The wrong ones side by side, as many as there are cores: they share nothing.
for wrong in "grader/wrong/$lesson"/* "grader/attacks/$lesson"/*; do
    [ ! -f "$wrong" ] || forms "$wrong" | sed "s|^|${wrong##*/} |"
done >"$tree/cases"
xargs -P "$(nproc)" -L 1 sh -c '
    if sh grader/try.sh "$1" "$2" "$3" >"build/try/$1/$2.$3.says" 2>&1; then echo pass; else echo FAIL; fi >"build/try/$1/$2.$3.end"
' sh "$lesson" <"$tree/cases"
while read -r wrong form; do
    case=$tree/$wrong.$form
    [ -s "$case.says" ] && cat "$case.says"
    count grep -qx pass "$case.end"
done <"$tree/cases"

# Each result of this lesson.
results_keep_to_schema() {
    ls "$tree"/build/*.json "$tree"/build/results/*.json "$tree"/build/results/solutions/*.json | grep -v '\.timeline\.json$' |
        xargs python3 grader/test/schema.py grader/result.schema.json >"$tree/schema.log" 2>&1 ||
        complain "$lesson: a result is not as grader/result.schema.json says" "$tree/schema.log"
}
count results_keep_to_schema

echo "$lesson: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
