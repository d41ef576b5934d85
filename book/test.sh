#!/bin/sh
# Tests the book as `make book` left it: links, listings, the quiz, and the width on a small screen.
# Prints what is wrong, then the counts. The last part needs Chromium: without it that part is said not to
# have run, and fails in continuous integration.
set -u
book=build/book
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# verdict WORDS: counts the status of the command before it.
verdict() {
    if [ $? -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1"; fi
}

# ---- Links, ids, and what must not be seen

for page in "$book"/*.html; do
    grep -o ' href="[^"]*"' "$page" | sed 's/ href="//; s/"$//' | grep -v '^[a-z]*:' | sort -u |
        while IFS= read -r link; do
            file=${link%%#*} anchor=${link#"${link%%#*}"}
            target=$book/${file:-${page##*/}}
            [ -f "$target" ] || { echo "$page: links to $link, which is not there"; continue; }
            [ -z "$anchor" ] || grep -q " id=\"${anchor#\#}\"" "$target" ||
                echo "$page: links to $link, which has no such place"
        done >"$scratch/links"
    [ ! -s "$scratch/links" ]
    verdict "$(cat "$scratch/links")"

    doubled=$(grep -o ' id="[^"]*"' "$page" | sort | uniq -d)
    [ -z "$doubled" ]
    verdict "$page: has twice:$doubled"

    ! grep -qE '//&lt;|//&gt;|//\|' "$page"
    verdict "$page: shows a marker of a solution"
done

# ---- The filter refuses what it cannot quote

# plant SOLUTION TEXT: builds a page of TEXT that quotes from SOLUTION; the words are in $scratch/says.
plant() {
    printf '%b' "$1" >"$scratch/solution.cu"
    printf '# A page\n\n%b\n' "$2" >"$scratch/01-page.md"
    printf '01-page\tA page\n' >"$scratch/contents"
    export BOOK_CONTENTS="$scratch/contents" BOOK_LABELS="$scratch/labels"
    page="$scratch/01-page.md"
    {
        BOOK_LABELS='' pandoc --lua-filter book/numbers.lua --to plain "$page" >"$scratch/labels" &&
        pandoc --fail-if-warnings --from markdown --to html5 --standalone --template book/template.html \
            --lua-filter book/numbers.lua --lua-filter book/quotes.lua --lua-filter book/web.lua \
            --syntax-definition book/cuda.xml -o "$scratch/page.html" "$page"
    } >"$scratch/says" 2>&1
}

quote="\`\`\`{.cuda include=$scratch/solution.cu region=one}\n\`\`\`\n"

refuses() {
    ! plant "$2" "$3" && grep -q "$4" "$scratch/says"
    verdict "the filter should refuse $1, and say: $4"
}

plant '//> one\nint a;\n    //> two TODO: text (1 line)\n    int b;\n    //| int skeleton;\n    //< two\n//< one\n' "$quote"
verdict "the filter should quote a region: $(cat "$scratch/says")"
grep -q '>int</span> b' "$scratch/page.html" && ! grep -qE 'TODO|skeleton|two' "$scratch/page.html"
verdict 'the filter should leave markers and skeleton lines out of a listing'

refuses 'a region that is not there' '//> two\nint a;\n//< two\n' "$quote" 'has no region one'
refuses 'a region opened twice' '//> one\n//< one\n//> one\n//< one\n' "$quote" 'opened before, at line 1'
refuses 'a region never closed' '//> one\nint a;\n' "$quote" 'never closed'
refuses 'crossed regions' '//> one\n//> two\n//< one\n//< two\n' "$quote" 'but two is open'
refuses 'a region closed only' 'int a;\n//< one\n' "$quote" 'but none is open'
refuses 'a file that is not there' '' '```{.cuda include=nowhere.cu region=one}\n```' 'no file nowhere.cu'
refuses 'a question with no right answer' '' '## Quiz\n\n1. Why?\n\n    - [ ] No.\n    - [ ] Nor this.' 'no right answer'
refuses 'a question that reads as a list' '' '## Quiz\n\n1. Is it\n   32. Or so?\n\n    - [x] Yes.' 'begins with "32."'
refuses 'a question with no options' '' '## Quiz\n\n1. Why?\n' 'no options'

# ---- Numbers, and references to them

figure='```{=html}\n<figure id="fig:one"><svg></svg><figcaption>A figure.</figcaption></figure>\n```\n\n'
table='| a |\n| - |\n| b |\n\n: A table. {#tbl:one}\n\n'
refers='See [@fig:one], [@lst:one], [@tbl:one], [@sec:one], [@sec:two] and [@lesson:1].\n\n'
plant '//> one\nint a;\n//< one\n' "## First\n\n## Second {#sec:one}\n\n### Part {#sec:two}\n\n$figure$table$refers$(
    echo "$quote" | sed 's/{/{#lst:one /')"
verdict "the filter should number a page: $(cat "$scratch/says")"
for words in 'href="#fig-one">Figure 1.1</a>' 'href="#lst-one">Listing 1.1</a>' 'href="#tbl-one">Table 1.1</a>' \
    'href="#sec-one">section 1.2</a>' 'href="#sec-two">section 1.2, Part</a>' 'href="01-page.html">lesson 1</a>' \
    '<figure id="fig-one">' 'id="lst-one"' 'id="tbl-one"' 'id="sec-one"' 'Figure 1.1</b> A figure.'; do
    tr '\n' ' ' <"$scratch/page.html" | grep -qF "$words"
    verdict "the filter should number a page: there is no $words"
done
refuses 'a label that is not there' '' 'See [@fig:none].' 'points to fig:none, and no page has that label'
refuses 'a label given twice' '' "$figure${figure}See [@fig:one]." 'the label fig:one is in 01-page and in 01-page'
refuses 'a lesson that is not there' '' 'See [@lesson:2].' 'points to lesson:2'

# ---- In a browser: no page scrolls sideways, and the quiz answers with no script of ours

chromium=$(command -v chromium || command -v google-chrome) || {
    echo 'The tests in a browser did not run: they need Chromium, and there is none.'
    [ -z "${CI:-}" ] || failed=$((failed + 1))
    echo "book: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}

mkdir "$scratch/pages"
cp "$book"/*.css "$scratch/pages"
for page in "$book"/*.html; do
    sed 's/<script [^>]*><\/script>//; s/<details/<details open/' "$page" >"$scratch/pages/${page##*/}"
done

{
    echo '<!doctype html><title>frames</title><body>'
    for page in "$scratch"/pages/*.html; do
        for width in 390 1280; do
            echo "<iframe src='pages/${page##*/}' width='$width' height='900'></iframe>"
        done
    done
    cat <<'PAGE'
<script>
addEventListener('load', () => {
  const says = [];
  for (const frame of document.querySelectorAll('iframe')) {
    const inside = frame.contentDocument, root = inside.documentElement;
    const where = frame.getAttribute('src').slice(6) + ' at ' + frame.width;
    const wide = root.scrollWidth > root.clientWidth;
    says.push(wide ? 'BAD ' + where + ': scrolls sideways, ' + root.scrollWidth + ' pixels' : 'GOOD');
    const stuck = [...inside.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 &&
      getComputedStyle(e).overflowX === 'auto' && e.tabIndex < 0 && e.clientWidth);
    says.push(stuck.length ? 'BAD ' + where + ': the keyboard cannot scroll ' + stuck[0].outerHTML.slice(0, 60) : 'GOOD');
    for (const question of inside.querySelectorAll('.question')) {
      const explanation = question.querySelector('.explanation');
      const shown = () => getComputedStyle(explanation).display !== 'none';
      const before = shown();
      const wrong = question.querySelector('.wrong'), right = question.querySelector('.right');
      if (wrong) wrong.click();
      const misled = shown();
      right.click();
      const name = where + ', ' + question.querySelector('legend').textContent;
      says.push(!before && !misled && shown() ? 'GOOD' : 'BAD ' + name + ': explains at the wrong time');
    }
  }
  document.body.textContent = '\n' + says.join('\n') + '\n';
});
</script>
PAGE
} >"$scratch/frames.html"

"$chromium" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=20000 \
    --dump-dom "file://$scratch/frames.html" >"$scratch/seen" 2>"$scratch/chromium.log"
grep '^BAD ' "$scratch/seen" | sed 's/^BAD //'
seen=$(grep -c '^GOOD' "$scratch/seen")
unseen=$(grep -c '^BAD ' "$scratch/seen")
if [ $((seen + unseen)) -eq 0 ]; then
    echo 'The browser saw nothing:'
    tail -n 5 "$scratch/chromium.log"
    unseen=1
fi

pages=$(ls "$book"/*.html | wc -l)
echo "book, $pages pages: $((passed + seen)) passed, $((failed + unseen)) failed"
[ $((failed + unseen)) -eq 0 ]
