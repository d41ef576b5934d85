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

# ---- In a browser

. book/browser.sh
[ "$chromium" ] || {
    lacks Chromium 'the tests of the pages in a browser'
    finish
}

# axe-core, in the wheel that carries it.
axe=build/axe/axe_core_python/axe.min.js
[ -f "$axe" ] || pip3 install --disable-pip-version-check --quiet --no-deps --only-binary :all: --require-hashes \
    --requirement book/test/axe.txt --target build/axe >"$scratch/pip" 2>&1 || rm -rf build/axe
[ -f "$axe" ] || lacks axe-core 'the search for barriers' "pip3 says: $(tail -n 1 "$scratch/pip")"
[ ! -f "$axe" ] || cp "$axe" "$scratch/axe.js"

cp book/test/*.js "$scratch"
mkdir "$scratch/pages"
cp "$book"/*.css "$book"/*.js "$scratch/pages"
[ ! -d "$book/pictures" ] || cp -R "$book/pictures" "$scratch/pages"
for page in "$book"/*.html; do
    sed 's/<details/<details open/' "$page" >"$scratch/pages/${page##*/}"
done

# A frame for each page, width and way. Without scripts means that the frame may run none, and axe needs some.
{
    echo '<!doctype html><title>frames</title><body>'
    for page in "$book"/*.html; do
        for width in 390 1280; do
            echo "<iframe src='pages/${page##*/}' width='$width' height='900'></iframe>"
            echo "<iframe src='pages/${page##*/}' width='$width' height='900' sandbox='allow-same-origin'></iframe>"
        done
    done
    echo '<script src="look.js"></script>'
} >"$scratch/frames.html"

# look THEME NUMBER: what Chromium says of the frames; NUMBER is its name for the theme.
look() {
    browse --allow-file-access-from-files --blink-settings=preferredColorScheme="$2" --virtual-time-budget=600000 \
        --dump-dom "file://$scratch/frames.html?$1" >"$scratch/$1" 2>"$scratch/$1.log"
}
look light 1 &
look dark 0
wait
for theme in light dark; do
    grep '^BAD ' "$scratch/$theme" | sed "s/^BAD /$theme: /"
    passed=$((passed + $(grep -c '^GOOD' "$scratch/$theme")))
    failed=$((failed + $(grep -c '^BAD ' "$scratch/$theme")))
    grep -q '^DONE' "$scratch/$theme"
    verdict "the browser did not get to the end ($theme): $(tail -n 5 "$scratch/$theme.log")"
done
finish
