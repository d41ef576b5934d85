#!/bin/sh
# Tests what `make read-N` shows of every lesson, folded and with ALL=1, at two widths; then the pager, the colours and the
# browser, on a terminal that script makes.
set -u
. book/test/counting
unset MAKEFLAGS MAKELEVEL MFLAGS COLUMNS PAGER LESS NO_COLOR DISPLAY WAYLAND_DISPLAY ALL ANSWERS VERSION
export LC_ALL=C.UTF-8 TERM=xterm
escape=$(printf '\033')
mark=$(printf '\315\243|\315\244|\315\245|\315\257')     # of book/terminal.lua

# ---- Every lesson, as it goes to a file

lessons=$(basename -s .md lessons/[0-9][0-9]-*.md)
make labels >"$scratch/says" 2>&1
verdict "make labels: $(cat "$scratch/says")"
printf '%s\n' "$lessons" | xargs -P "$(nproc)" -I{} sh -c '
    number=$(echo "${2%%-*}" | sed "s/^0//")
    for columns in 80 120; do
        COLUMNS=$columns make "read-$number" >"$1/$2.$columns" 2>&1
        COLUMNS=$columns make "read-$number" ALL=1 >"$1/$2.$columns.all" 2>&1
    done' sh "$scratch" {}

# secret FILE: the lines of prose that a lesson keeps folded: hints, answers, explanations, and the solution.
secret() {
    awk '
        /^```/ { code = !code }
        /^## / { folded = /^## (Hints|The solution)/; quiz = /^## Quiz/ }
        /^:::/ { answer = /answer/; next }
        !code && (folded || answer || quiz && /^ *> /) && !/^#|^\||[@#][a-z]+:|\]\(|^ *[:<]/' "$1"
}

# Text without marks, figures and blanks, which do not depend on how it is set.
letters() { tr -cd 'a-zA-Z\n'; }

for lesson in $lessons; do
    number=$(echo "${lesson%%-*}" | sed 's/^0//')
    for columns in 80 120; do
        for text in "$scratch/$lesson.$columns" "$scratch/$lesson.$columns.all"; do
            what="make read-$number, $columns columns${text##*"$columns"}"
            [ "$(wc -l <"$text")" -gt 100 ]
            verdict "$what: shows no lesson: $(tail -n 3 "$text")"
            wide=$(grep -nE "^.{$((columns + 1))}" "$text" | head -n 3)
            [ -z "$wide" ]
            verdict "$what: is wider: $wide"
            astray=$(grep -nE "<svg|<path|<rect|</|include=|\{=html|\[@|//[<>|] ?[a-z-]+\$|:::|$mark|&(amp|lt|gt|quot|apos|nbsp|shy|[mn]dash|hellip|minus|times|middot|[lr]arr|le|ge|ne|thinsp|#x?[0-9a-f]+);| \$|$escape" "$text" | head -n 3)
            [ -z "$astray" ]
            verdict "$what: shows what is not for readers: $astray"
        done
    done

    text=$scratch/$lesson.80
    tr -d '\n' <"$text" | letters >"$scratch/folded"
    tr -d '\n' <"$text.all" | letters >"$scratch/unfolded"
    secret "lessons/$lesson.md" | letters | grep -E '.{40}' >"$scratch/secret"
    [ "$(wc -l <"$scratch/secret")" -gt 10 ]
    verdict "lessons/$lesson.md: nothing in it is to be folded"
    shown=$(while read -r line; do ! grep -qF "$line" "$scratch/folded" || echo "$line"; done <"$scratch/secret" | head -n 3)
    [ -z "$shown" ]
    verdict "make read-$number: shows what is to be folded: $shown"
    hidden=$(while read -r line; do grep -qF "$line" "$scratch/unfolded" || echo "$line"; done <"$scratch/secret" | head -n 3)
    [ -z "$hidden" ]
    verdict "make read-$number ALL=1: does not show: $hidden"
    for command in "hint-$number" "quiz-$number" "read-$number ANSWERS=1" "read-$number ALL=1"; do
        grep -q "folded.*" "$text" && tr '\n' ' ' <"$text" | grep -qE "folded\. [^]]*make +$command\`\]"
        verdict "make read-$number: should say that something is folded and comes with make $command"
    done
    ! grep -q 'folded\.' "$text.all"
    verdict "make read-$number ALL=1: should fold nothing"
    ! grep -qE '☐|☒|- \[x\]' "$text"
    verdict "make read-$number: shows which answers are right"

    # Each listing has its code below its caption, and each figure its words.
    listings=$(grep -c '^```{.*include=' "lessons/$lesson.md")
    [ "$(grep -cE "^    Listing $number\.[0-9]+: " "$text.all")" = "$listings" ] &&
        [ "$(grep -A2 -E "^    Listing $number\.[0-9]+: " "$text.all" | grep -c '^    ')" = $((2 * listings)) ]
    verdict "make read-$number ALL=1: should show the code of $listings listings"
    figures=$(grep -c '^<figure' "lessons/$lesson.md")
    [ "$(grep -cE "^    Figure $number\.[0-9]+: " "$text.all")" = "$figures" ] && [ "$(grep -c 'It shows: ' "$text.all")" -ge "$figures" ]
    verdict "make read-$number ALL=1: should show the words of $figures figures"
    quoted=$(sed -n '/^## The solution/q; s/^```{.*include=[^ ]* .*region=\([a-z0-9-]*\).*/\1/p' "lessons/$lesson.md")
    [ "$(sed -n 's/^    Listing [0-9.]*: \([a-z0-9-]*\), in [^ ]*$/\1/p' "$text")" = "$quoted$(
        sed -n '/^## What experts get/,$s/^```{.*include=[^ ]* .*region=\([a-z0-9-]*\).*/ \1/p' "lessons/$lesson.md" | tr ' ' '\n')" ]
    verdict "make read-$number: should show these listings and no other: $quoted"
done

# ---- One lesson in full: what a region, a reference, an exponent and a table look like

text=$scratch/08-reduction.80
while IFS= read -r line; do
    grep -qxF -- "$line" "$text"
    verdict "make read-8: does not show the line: $line"
done <<'end'
Lesson 8: Reduction: one number from many
8.1 A chain and a tree
    Listing 8.1: own, in solutions/08-reduction.cu
    for (int i = first; i < n; i += apart)
        sum += in[i];
  The grader measures n = 4,194,304 = 2²² floats.
  it draws the ticket; section 10.7, “What an atomic does not order” says why.
    $ make lesson-8
      b)  1,023, in 10 steps
                              blocks    fewer   shuffles    vectors       launch
end
grep -qxF '    =========     at subtract_neighbours(float *, const float *, int)+0xc0 in' "$scratch/06-debugging.80" &&
    grep -qxF '    =========     at subtract_neighbours(float *, const float *, int)+0xc0 in e.cu:32' "$scratch/06-debugging.120"
verdict 'make read-6: should break a line of output that is too wide at 80 columns only'
grep -A1 -xF '    // Each block keeps one run in shared memory, and each thread has one number' "$scratch/06-debugging.80" | grep -qxF '    // of it.'
verdict 'make read-6: should break a comment into comments'
grep -A1 -xF '    // wait until the device has reached stop' "$scratch/04-roofline.80" | grep -qxF '    cudaEventSynchronize(stop);'
verdict 'make read-4: should put a comment that is too far out above its line'

# ---- One version of a solution

make read-8 VERSION=3 >"$scratch/one" 2>&1
grep -qxF 'Version 3: fewer blocks' "$scratch/one" && [ "$(sed -n 1p "$scratch/one")" = 'Lesson 8: Reduction: one number from many' ] &&
    grep -qxF '    if (VERSION >= 3 && blocks > BLOCKS)' "$scratch/one" && grep -q '^    PASS ' "$scratch/one" &&
    ! grep -qE 'Version [^3]|^8\.|Hint' "$scratch/one"
verdict "make read-8 VERSION=3: should show version 3 and no other: $(head -n 5 "$scratch/one")"
! make read-8 VERSION=9 >"$scratch/one" 2>&1 &&
    grep -qxF 'Lesson 8: its solution has no version 9. To read all of it: make read-8 ALL=1' "$scratch/one"
verdict "make read-8 VERSION=9: should say that there is none: $(head -n 3 "$scratch/one")"
for lesson in $lessons; do
    number=$(echo "${lesson%%-*}" | sed 's/^0//')
    first=$(sed -n 's/^### Version \([0-9]*\).*/\1/p' "lessons/$lesson.md" | head -n 1)
    said=$(tr -s ' \n' '  ' <"$scratch/$lesson.80" | sed -n 's/.*To read one version: .\(make read-[0-9]* VERSION=[0-9]*\).*/\1/p')
    [ "$said" = "${first:+make read-$number VERSION=$first}" ]
    verdict "make read-$number: should say how to read version $first alone, not: $said"
done

# ---- A terminal's characters, width, pager and colours

make read-8 ANSWERS=1 >"$scratch/answers" 2>&1
! grep -q 'The answer is folded' "$scratch/answers" && grep -q 'Three hints are folded' "$scratch/answers" &&
    grep -q 'The solution is folded' "$scratch/answers"
verdict 'make read-8 ANSWERS=1: should show the answers, and neither hints nor the solution'
LC_ALL=C make read-8 >"$scratch/ascii" 2>&1
! LC_ALL=C grep -q '[^ -~]' "$scratch/ascii" && grep -q '= 2^22 floats' "$scratch/ascii"
verdict "make read-8 with LC_ALL=C: should be ASCII: $(LC_ALL=C grep -m 1 '[^ -~]' "$scratch/ascii")"

# on_terminal COMMAND: what it shows there.
on_terminal() {
    script -qec "$1" /dev/null </dev/null | tr -d '\r' >"$scratch/shown"
    sed "s/$escape\[[0-9]*m//g" "$scratch/shown" >"$scratch/plain"
}

# widest COLUMNS WIDTH: on a terminal of COLUMNS columns the text is WIDTH wide at most, and nearly that.
widest() {
    on_terminal "stty cols $1; PAGER=cat make read-8"
    ! grep -qE "^.{$(($2 + 1))}" "$scratch/plain" && grep -qE "^.{$(($2 - 3))}" "$scratch/plain"
    verdict "make read-8 on a terminal of $1 columns: should be $2 wide"
}
widest 100 100
widest 300 120

grep -qF "$escape[1m8.1$escape[0m" "$scratch/shown" && grep -qF "$escape[36mn$escape[0m" "$scratch/shown" &&
    grep -qF "$escape[3mbetter$escape[0m" "$scratch/shown" && ! grep -qE "$mark|\`n\`" "$scratch/shown"
verdict 'make read-8 on a terminal: should mark headings, code and emphasis'
# The marks take no room.
on_terminal "stty cols 100; PAGER=cat make read-8"
grep -qxF '  0 adds elements 0, 256, 512 and 768, and thread 255 adds elements 255, 511 and 767. So any grid' "$scratch/plain"
verdict 'make read-8 on a terminal: should break lines where they are full'
for plain in NO_COLOR=1 TERM=dumb; do
    on_terminal "$plain PAGER=cat make read-8"
    ! grep -q "$escape" "$scratch/shown" && grep -q '^8.1 A chain' "$scratch/shown"
    verdict "$plain make read-8: should show no escape codes"
done
on_terminal "PAGER='sed s/^/paged:/' make read-8"
grep -q '^paged:.*reduction' "$scratch/shown"
verdict 'make read-8 on a terminal: should go through PAGER'
make read-8 2>"$scratch/says" | head -n 1 >/dev/null && [ ! -s "$scratch/says" ]
verdict "make read-8 | head: should say nothing of its own: $(cat "$scratch/says")"

# ---- A browser

# desk NAME SCRIPT: a folder with a program of that name, which keeps what it is given.
desk() {
    rm -rf "$scratch/desk" "$scratch/opened"
    mkdir "$scratch/desk"
    printf '#!/bin/sh\necho "$1" >%s/opened\n%s\n' "$scratch" "$2" >"$scratch/desk/$1"
    printf '#!/bin/sh\necho "windows:$2"\n' >"$scratch/desk/wslpath"
    chmod +x "$scratch/desk"/*
}
page=$PWD/build/book/01-first-kernel.html

# opens WORDS COMMAND: it opens a browser, gives it the page, and shows no text.
opens() {
    on_terminal "PATH=$scratch/desk:\$PATH PAGER=cat $2"
    [ "$(cat "$scratch/opened" 2>&1)" = "$1" ] && [ -s "$page" ] && grep -qF "in your browser: $page" "$scratch/shown" &&
        ! grep -q 'Two machines' "$scratch/plain"
    verdict "$2: should open the page: $(head -n 3 "$scratch/shown")"
}
# reads COMMAND: it opens none, and shows the text.
reads() {
    on_terminal "PATH=$scratch/desk:\$PATH PAGER=cat $1"
    grep -q 'Two machines' "$scratch/plain" && ! grep -q 'in your browser' "$scratch/shown"
    verdict "$1: should show the text here: $(head -n 3 "$scratch/shown")"
}
desk xdg-open 'exit 0'
opens "$page" 'DISPLAY=:9 make read-1'
rm "$scratch/opened"
reads 'make read-1'
reads 'DISPLAY=:9 ALL=1 make read-1'
reads 'DISPLAY=:9 ANSWERS=1 make read-1'
on_terminal "PATH=$scratch/desk:\$PATH PAGER=cat DISPLAY=:9 VERSION=3 make read-8"
grep -qxF 'Version 3: fewer blocks' "$scratch/plain"
verdict 'DISPLAY=:9 VERSION=3 make read-8: should show the version here'
DISPLAY=:9 PATH=$scratch/desk:$PATH make read-1 | grep -q 'Two machines'
verdict 'DISPLAY=:9 make read-1 | ...: should show the text'
[ ! -f "$scratch/opened" ]
verdict 'make read-1: should open a browser only for a terminal, at a desktop, without ALL, ANSWERS or VERSION'
desk xdg-open 'exit 3'
reads 'DISPLAY=:9 make read-1'
desk xdg-open 'exec sleep 5'
opens "$page" 'WAYLAND_DISPLAY=w make read-1'
desk explorer.exe 'exit 1'
opens "windows:$page" 'make read-1'
desk wslview 'exit 0'
opens "$page" 'make read-1'

finish
