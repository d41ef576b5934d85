#!/bin/sh
# Spells the prose of the course, in British English. Words of the field are in book/test/words, sorted, one a line.
set -u
. book/test/counting

command -v aspell >/dev/null && aspell dump dicts | grep -qx en_GB || {
    lacks "aspell with its British dictionary" 'the spelling'
    finish
}

LC_ALL=C sort -cu book/test/words
verdict 'book/test/words: is not sorted, or has a word twice. Type: LC_ALL=C sort -u -o book/test/words book/test/words'

{ echo "personal_ws-1.1 en 0 utf-8"; cat book/test/words; } >"$scratch/words.pws"

# prose FILE: its text without code, drawings, addresses and labels.
prose() {
    awk '/^ *```/ { code = !code; print ""; next } !code' "$1" |
        sed 's/``[^`]*``//g; s/<[^>]*>/ /g; s/](\([^)]*\))/]/g; s/\[@[^]]*\]//g; s/{[#.][^}]*}//g' |
        tr '\n' '\r' | sed 's/`[^`]*`//g' | tr '\r' '\n'
}

for text in lessons/*.md book/*.md *.md; do
    unknown=$(prose "$text" | aspell list --lang=en_GB --encoding=utf-8 --personal="$scratch/words.pws" | sort -u | tr '\n' ' ')
    [ -z "$unknown" ]
    verdict "$text: spells $unknown(words of the field go into book/test/words)"
done
finish
