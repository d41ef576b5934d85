#!/bin/sh
# Spells the prose of the course, in British English, and finds phrases that a reader would have to read twice.
# Words of the field are in book/test/words, sorted, one a line. Phrases are in book/test/phrases: an extended regular
# expression, a tab, and what to write instead.
set -u
. book/test/counting

command -v aspell >/dev/null && aspell dump dicts | grep -qx en_GB || {
    lacks "aspell with its British dictionary" 'the spelling'
    finish
}

LC_ALL=C sort -cu book/test/words
verdict 'book/test/words: is not sorted, or has a word twice. Type: LC_ALL=C sort -u -o book/test/words book/test/words'

{ echo "personal_ws-1.1 en 0 utf-8"; cat book/test/words; } >"$scratch/words.pws"

# prose FILE: its text with the captions of drawings, but without code, drawings, addresses and labels.
prose() {
    awk '/^ *```/ { code = !code; print ""; next } !code || /<figcaption>/' "$1" |
        sed 's/``[^`]*``//g; s/<code>[^<]*<\/code>//g; s/<[^>]*>/ /g; s/](\([^)]*\))/]/g; s/\[@[^]]*\]//g; s/{[#.][^}]*}//g' |
        tr '\n' '\r' | sed 's/`[^`]*`//g' | tr '\r' '\n'
}

mkdir -p "$scratch/prose/lessons" "$scratch/prose/book"
for text in lessons/*.md book/*.md *.md; do
    prose "$text" >"$scratch/prose/$text"
    unknown=$(aspell list --lang=en_GB --encoding=utf-8 --personal="$scratch/words.pws" <"$scratch/prose/$text" | sort -u | tr '\n' ' ')
    [ -z "$unknown" ]
    verdict "$text: spells $unknown(words of the field go into book/test/words)"
    # A phrase may go on in the next line.
    tr -s ' \n' ' ' <"$scratch/prose/$text" >"$scratch/line" && mv "$scratch/line" "$scratch/prose/$text"
done

while IFS='	' read -r phrase instead; do
    found=$(cd "$scratch/prose" && grep -roiE ".{0,40}\<($phrase)\>.{0,30}" . | sed 's/^\.\///; s/:/: .../; s/$/.../')
    [ -z "$found" ]
    verdict "$found
    book/test/phrases: $instead"
done <book/test/phrases
finish
