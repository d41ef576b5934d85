#!/bin/sh
# Prints the bound book with Chromium, twice: the first print tells on which page each heading is, and the second
# has these numbers in its table of contents.
#
#     sh book/pdf.sh build/book/warpwise.pdf COMMAND...      the command writes the page that is printed (--output)
#
# BOOK_PAGE_NUMBERS, read by the command, is where the page numbers are written.
set -eu
pdf=$1
shift
work=$(dirname "$pdf")/pdf
mkdir -p "$work"
ln -sfn ../pictures "$work/pictures"
. book/browser.sh
[ "$chromium" ] || {
    echo 'The PDF is printed by Chromium, and there is none. The web pages and the EPUB need none: make book'
    exit 1
}

export BOOK_PAGE_NUMBERS="$work/pages"
rm -f "$BOOK_PAGE_NUMBERS"

print_to() {
    "$@" --output "$work/book.html"
    browse --no-pdf-header-footer --export-tagged-pdf --generate-pdf-document-outline --print-to-pdf="$work/book.pdf" \
        "file://$(realpath "$work/book.html")" >"$work/chromium.log" 2>&1 ||
        { tail -n 5 "$work/chromium.log"; exit 1; }
}

# Where pdfinfo writes `  12 [ XYZ ... ] "name"`, the page and the name.
places() {
    pdfinfo -dests "$work/book.pdf" | sed -n 's/^ *\([0-9][0-9]*\) .*"\(.*\)"$/\1 \2/p'
}

print_to "$@"
places >"$work/first"
cp "$work/first" "$BOOK_PAGE_NUMBERS"
print_to "$@"
places | cmp -s - "$work/first" || { echo "$pdf: the page numbers moved when they were filled in"; exit 1; }
mv "$work/book.pdf" "$pdf"
