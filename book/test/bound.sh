#!/bin/sh
# Tests the EPUB and the PDF: they are whole, each chapter is in their outlines, and what points somewhere arrives.
set -u
. book/test/counting

titles=$(cut -f 2 build/book/contents)
chapters=$(printf '%s\n' "$titles" | wc -l)

# outline FILE WORDS: each chapter's title is a line's end in the file.
outline() {
    printf '%s\n' "$titles" | while IFS= read -r title; do
        sed 's/[’]/'"'"'/g' "$1" | grep -qF "$title" || echo "$2 has no chapter \"$title\""
    done >"$scratch/missing"
    [ ! -s "$scratch/missing" ]
    verdict "$(cat "$scratch/missing")"
}

# ---- EPUB

epub=$book/warpwise.epub
[ -s "$epub" ]
verdict "$epub: is not there"

# epubcheck is a Java archive, which not every system can start by its name.
if epubcheck=$(command -v epubcheck) && command -v java >/dev/null; then
    java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -jar "$(realpath "$epubcheck")" "$epub" >"$scratch/epubcheck" 2>&1 &&
        grep -q '0 fatals / 0 errors / 0 warnings' "$scratch/epubcheck"
    verdict "$(cat "$scratch/epubcheck")"
else
    lacks epubcheck "the EPUB's check"
fi

# What `make book` left is made once more.
{ make -s "$epub" && cp "$epub" "$scratch/first.epub" && rm "$epub" && make -s "$epub"; } >"$scratch/make" 2>&1 &&
    cmp -s "$epub" "$scratch/first.epub"
verdict "$epub: differs when it is made again: $(cat "$scratch/make")"

mkdir "$scratch/epub"
unzip -q -d "$scratch/epub" "$scratch/first.epub"
sed 's/<li/\n&/g; s/<[^>]*>//g' "$scratch/epub/EPUB/nav.xhtml" >"$scratch/nav"
outline "$scratch/nav" "the EPUB's contents"
[ "$(ls "$scratch"/epub/EPUB/text/ch*.xhtml | wc -l)" -eq "$chapters" ]
verdict 'the EPUB has not a file for each chapter'
! grep -lE '<(details|input|script)' "$scratch"/epub/EPUB/text/*.xhtml
verdict 'the EPUB has what only a web page can use'

# ---- PDF

. book/browser.sh
[ "$chromium" ] || {
    lacks Chromium 'the tests of the PDF'
    finish
}
make -s book-pdf >"$scratch/make" 2>&1
verdict "make book-pdf: $(cat "$scratch/make")"
pdf=$book/warpwise.pdf

pdfinfo "$pdf" >"$scratch/info"
grep -q '^Tagged: *yes' "$scratch/info"
verdict "$pdf: is not tagged"

pdffonts "$pdf" | awk 'NR > 2 { n++; if ($(NF - 4) != "yes") { print; bad = 1 } } END { exit bad || !n }' >"$scratch/fonts"
verdict "$pdf: has fonts that are not embedded: $(cat "$scratch/fonts")"

# A page of the book holds some four hundred and fifty words, code included; far from that, something is missing or has come apart.
pdftotext -nopgbrk "$pdf" "$scratch/text"
words=$(wc -w <"$scratch/text") pages=$(sed -n 's/^Pages: *//p' "$scratch/info")
[ $((pages * 250)) -le "$words" ] && [ "$words" -le $((pages * 600)) ]
verdict "$pdf: $words words on $pages pages"

pdftohtml -xml -i -stdout "$pdf" 2>/dev/null | sed -n '/<outline>/,$p' | sed "s/<[^>]*>//g; s/&#34;/\"/g; s/&#39;/'/g" >"$scratch/outline"
outline "$scratch/outline" "the PDF's outline"

# Each place that is pointed to is there, as the printer saw it and as the PDF has it; and nothing points to a file.
bound=$book/pdf/book.html
grep -o 'href="#[^"]*"' "$bound" | sed 's/href="#//; s/"$//' | sort -u >"$scratch/wanted"
pdfinfo -dests "$pdf" | sed -n 's/^ *[0-9][0-9]* .*"\(.*\)"$/\1/p' | sort -u >"$scratch/there"
[ -s "$scratch/wanted" ] && astray=$(comm -23 "$scratch/wanted" "$scratch/there") && [ -z "$astray" ]
verdict "$pdf: nothing is at $astray"
doubled=$(grep -o ' id="[^"]*"' "$bound" | sort | uniq -d)
[ -z "$doubled" ]
verdict "$bound: has twice:$doubled"
! pdfinfo -url "$pdf" | grep 'file:'
verdict "$pdf: points to files of this machine"

# The contents' page numbers are those of the headings.
tr '\n' ' ' <"$bound" | sed 's/<div class="entry/\n&/g' |
    sed -n 's/^<div class="entry[^>]*> *<a href="#\([^"]*\)">.*class="leaf">\([0-9]*\)<.*/\2 \1/p' | sort >"$scratch/contents"
pdfinfo -dests "$pdf" | sed -n 's/^ *\([0-9][0-9]*\) .*"\(.*\)"$/\1 \2/p' | sort >"$scratch/places"
[ "$(wc -l <"$scratch/contents")" -ge "$chapters" ] && [ -z "$(comm -23 "$scratch/contents" "$scratch/places")" ]
verdict "$pdf: its contents name wrong pages"

# Nothing folds: each hint is there, and each quiz has its answers.
[ "$(grep -c '^Hint 1: ' "$scratch/text")" -eq "$(ls lessons/*.md | wc -l)" ] &&
    [ "$(grep -c '^Answers$' "$scratch/text")" -eq "$(ls lessons/*.md | wc -l)" ]
verdict "$pdf: lacks hints or answers"
finish
