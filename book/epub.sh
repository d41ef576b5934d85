#!/bin/sh
# Packs the bound book as an EPUB whose bytes depend on its text alone: dates are those of the last commit, where
# there is one, and the archive's own times, which Pandoc takes from the clock, are set to the same.
#
#     sh book/epub.sh build/book/warpwise.epub COMMAND...      the command writes an EPUB (--output)
set -eu
epub=$1
shift
work=$(dirname "$epub")/epub
rm -rf "$work"
mkdir -p "$work"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>"$work/none" || echo 1000000000)}"
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C

"$@" --output "$work/new.epub"
rm -f "$work/none"
(
    cd "$work"
    unzip -q -d book new.epub
    cd book
    find . -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
    # The first file in an EPUB is its type, not compressed.
    zip -q -X -0 ../whole.epub mimetype
    find . -type f ! -name mimetype | sort | zip -q -X -9 -@ ../whole.epub
)
mv "$work/whole.epub" "$epub"
rm -rf "$work"
