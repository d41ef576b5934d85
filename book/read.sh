#!/bin/sh
# Shows a lesson to a student, as `make read-8` does: its page where a browser can be opened, else its text in the terminal,
# through a pager. Where standard output is no terminal, the text goes there as it is. VERSION=2 shows that version of the solution
# alone.
#
#     sh book/read.sh 08-reduction PANDOC...     the command, which takes the width and the text yet
set -u
lesson=$1
shift
unset MAKEFLAGS MAKELEVEL
number=${lesson%%-*} number=${number#0}

# ---- The page in a browser

# Windows's browser opens pages of WSL; elsewhere there must be a desktop.
browser() {
    command -v wslview || command -v explorer.exe ||
        { [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open; }
}

# A browser may stay in front until its window is closed, so one that runs is taken for one that shows the page. explorer.exe
# never says how it went.
opens() {
    page=$PWD/build/book/$lesson.html
    case $1 in *explorer.exe) page=$(wslpath -w "$page") ;; esac
    setsid "$1" "$page" >/dev/null 2>&1 </dev/null &
    sleep 1
    kill -0 $! 2>/dev/null || wait $! || [ "${1##*/}" = explorer.exe ]
}

if [ -t 1 ] && [ -z "${ALL:-}${ANSWERS:-}${VERSION:-}" ] && browser=$(browser); then
    make "page-$number" || exit
    if opens "$browser"; then
        echo "Lesson $number is in your browser: $PWD/build/book/$lesson.html"
        exit
    fi
fi

# ---- The text in the terminal

make labels >&2 || exit

# Broader lines than these are hard to read.
least=40 most=120
exec 3>&1
size=$(stty size <&3 2>/dev/null)
columns=${COLUMNS:-${size#* }}
[ "${columns:-0}" -gt 0 ] 2>/dev/null || columns=80
[ "$columns" -ge $least ] || columns=$least
[ "$columns" -le $most ] || columns=$most
export BOOK_COLUMNS="$columns"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-}" != dumb ]; then export BOOK_COLOURS=1; fi
[ "$(locale charmap)" = UTF-8 ] || export BOOK_ASCII=1

# The marks of book/terminal.lua as escape codes: the mark that begins a word follows its first character, which may have
# several bytes.
escapes() {
    escape=$(printf '\033') later=$(printf '[\200-\277]') first=$(printf '[^\200-\277]')
    LC_ALL=C sed "s/ *$//
        s/$(printf '\315\257')/$escape[0m/g
        s/\($first$later*\)$(printf '\315\243')/$escape[1m\1/g
        s/\($first$later*\)$(printf '\315\244')/$escape[3m\1/g
        s/\($first$later*\)$(printf '\315\245')/$escape[36m\1/g"
}

plainer() {
    if [ -n "${BOOK_ASCII:-}" ]; then iconv -f UTF-8 -t ASCII//TRANSLIT; else cat; fi
}

pager() {
    if [ ! -t 1 ]; then cat
    elif [ -n "${PAGER:-}" ]; then LESS=${LESS-R} sh -c "$PAGER"
    elif command -v less >/dev/null; then less -R
    else cat; fi
}

text=$("$@" --columns "$columns" "lessons/$lesson.md") || exit
printf '%s\n' "$text" | plainer | escapes | pager || [ $? -eq 141 ]    # a reader who has seen enough
