#!/bin/sh
# Tests the web pages as `make book` left them: links and places, and in Chromium, at two widths, in both themes, with
# scripts and with none: nothing scrolls sideways, the quiz answers, and axe finds no barrier.
set -u
. book/test/counting

# ---- Links, places, and what must not be seen

# links PAGE: each place that a page points to and that is not there.
links() {
    grep -oE ' (href|src)="[^"]*"' "$1" | sed -E 's/ (href|src)="//; s/"$//' | grep -v '^[a-z]*:' | sort -u |
        while IFS= read -r link; do
            file=${link%%#*} anchor=${link#"${link%%#*}"}
            target=$(dirname "$1")/${file:-${1##*/}}
            [ -f "$target" ] || { echo "$1: links to $link, which is not there"; continue; }
            [ -z "$anchor" ] || grep -q " id=\"${anchor#\#}\"" "$target" ||
                echo "$1: links to $link, which has no such place"
        done
}

for page in "$book"/*.html; do
    astray=$(links "$page")
    [ -z "$astray" ]
    verdict "$astray"

    doubled=$(grep -o ' id="[^"]*"' "$page" | sort | uniq -d)
    [ -z "$doubled" ]
    verdict "$page: has twice:$doubled"

    ! grep -qE '//&lt;|//&gt;|//\||\[@' "$page"
    verdict "$page: shows a marker of a solution, or a label"
done

# ---- In a browser, with what is folded opened

. book/test/looking
mkdir "$scratch/pages"
cp "$book"/*.css "$book"/*.js "$scratch/pages"
[ ! -d "$book/pictures" ] || cp -R "$book/pictures" "$scratch/pages"
for page in "$book"/*.html; do
    sed 's/<details/<details open/' "$page" >"$scratch/pages/${page##*/}"
done
look_at_pages
finish
