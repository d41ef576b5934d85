#!/bin/sh
# What the book's filters quote, number and refuse, tried on small pages. Prints what is wrong, then the counts.
set -u
. book/test/counting

# ---- What cannot be quoted is refused

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
plant '//> one\nint a;\n    //> two TODO: text (1 line)\n    int b;\n    //| int skeleton;\n    //< two\n//> three BUG:\nint c;\n//< three\nint d;\n//< one\n' \
    "$(echo "$quote" | sed 's/ region/ skeleton=1 region/')"
grep -q '>int</span> skeleton' "$scratch/page.html" && grep -q 'TODO</span><span class="co">: text' "$scratch/page.html" &&
    grep -q 'int</span> d' "$scratch/page.html" && ! grep -qE '>int</span> [bc]|two|three' "$scratch/page.html"
verdict 'the filter should quote what the skeleton has of a region'

refuses 'a region that is not there' '//> two\nint a;\n//< two\n' "$quote" 'has no region one'
refuses 'a region opened twice' '//> one\n//< one\n//> one\n//< one\n' "$quote" 'opened before, at line 1'
refuses 'a region never closed' '//> one\nint a;\n' "$quote" 'never closed'
refuses 'crossed regions' '//> one\n//> two\n//< one\n//< two\n' "$quote" 'but two is open'
refuses 'a region closed only' 'int a;\n//< one\n' "$quote" 'but none is open'
refuses 'a file that is not there' '' '```{.cuda include=nowhere.cu region=one}\n```' 'no file nowhere.cu'
refuses 'a question with no right answer' '' '## Quiz\n\n1. Why?\n\n    - [ ] No.\n    - [ ] Nor this.' 'no right answer'
refuses 'a question that reads as a list' '' '## Quiz\n\n1. Is it\n   32. Or so?\n\n    - [x] Yes.' 'begins with "32."'
refuses 'a question with no options' '' '## Quiz\n\n1. Why?\n' 'no options'

# ---- Pictures

# shown ATTRIBUTES: a page with this picture.
shown() {
    printf '```{=html}\n<figure id="fig:cat"><div class="pictures"><img %s/></div><figcaption>A cat.</figcaption></figure>\n```\n' "$1"
}
cat=../../grader/pictures/chelsea.png
plant '' "$(shown "src=\"$cat\" alt=\"A cat\"")" && grep -qF "<img src=\"$cat\" alt=\"A cat\" width=\"451\" height=\"300\"/>" "$scratch/page.html"
verdict "the filter should give a picture its size: $(cat "$scratch/says")"
refuses 'a picture that is not there' '' "$(shown 'src="pictures/nowhere.png" alt="A cat"')" 'shows pictures/nowhere.png, which is neither'
refuses 'a picture without words' '' "$(shown "src=\"$cat\" alt=\" \"")" 'has no words (alt)'

# ---- Numbers, and references to them

figure='```{=html}\n<figure id="fig:one"><svg></svg><figcaption>A figure.</figcaption></figure>\n```\n\n'
table='| a |\n| - |\n| b |\n\n: A table. {#tbl:one}\n\n'
refers='See [@fig:one], [@lst:one], [@tbl:one], [@sec:one], [@sec:two] and [@lesson:1], [@title:1]. [@sec:two; @tbl:one] say more.\n\n'
plant '//> one\nint a;\n//< one\n' "## First\n\n## Second {#sec:one}\n\n### Part {#sec:two}\n\n$figure$table$refers$(
    echo "$quote" | sed 's/{/{#lst:one /')"
verdict "the filter should number a page: $(cat "$scratch/says")"
for words in 'href="#fig-one">Figure 1.1</a>' 'href="#lst-one">Listing 1.1</a>' 'href="#tbl-one">Table 1.1</a>' \
    'href="#sec-one">section 1.2</a>' 'href="#sec-two">section 1.2, “Part”</a>' \
    'href="#sec-two">Section 1.2, “Part”</a> and <a' 'href="01-page.html">lesson 1</a>, <a' 'href="01-page.html">A page</a>' \
    '<figure id="fig-one">' 'id="lst-one"' 'id="tbl-one"' 'id="sec-one"' 'Figure 1.1</b> A figure.'; do
    tr '\n' ' ' <"$scratch/page.html" | grep -qF "$words"
    verdict "the filter should number a page: there is no $words"
done
refuses 'a label that is not there' '' 'See [@fig:none].' 'points to fig:none, and no page has that label'
refuses 'a label given twice' '' "$figure${figure}See [@fig:one]." 'the label fig:one is in 01-page and in 01-page'
refuses 'a lesson that is not there' '' 'See [@lesson:2].' 'points to lesson:2'
refuses 'the title of a lesson that is not there' '' 'See [@title:2].' 'points to title:2'

# ---- Figures of data

printf '# measured\nslow\t1\t10\nslow\t4\t20\nfast\t1\t100\nfast\t4\t5000\n' >"$scratch/data.txt"
plot='```{=html}\n<figure><plot data="DATA" title="Speeds" x="n" y="speed" limit="20000" limit_name="most"/><figcaption>.</figcaption></figure>\n```'
plots() { echo "$plot" | sed "s|DATA|$scratch/$1|"; }
plant '' "$(plots data.txt)"
verdict "the filter should draw a plot: $(cat "$scratch/says")"
for words in '<title id="data">Speeds</title>' '>slow</text>' '>fast</text>' '>most</text>' '>100,000</text>' '>4</text>' \
    'd="M62.0 282.0L348.0 261.8"' 'd="M62.0 215.0L348.0 101.2"'; do    # from 10 to 20, and from 100 to 5,000, of 10 to 100,000
    grep -qF "$words" "$scratch/page.html"
    verdict "the filter should draw a plot: there is no $words"
done
printf 'slow\t1\t10\nslow\t1048576\t20\n' >"$scratch/wide.txt"
plant '' "$(plots wide.txt)"
grep -q '>65,536</text>' "$scratch/page.html" && ! grep -q '>262,144</text>' "$scratch/page.html"
verdict 'the filter should part the numbers of a wide axis'
refuses 'a plot of a file that is not there' '' "$(plots none.txt)" 'no file .*none.txt to draw'
printf 'slow\t1\n' >"$scratch/half.txt"
refuses 'a plot of what is no data' '' "$(plots half.txt)" 'half.txt:1: is not a series, x and y'

# ---- Timelines

printf 'one\tcopy\t0\t100\t1\t1\none\tkernel\t100\t400\t1\t2\ntwo\tcopy\t0\t50\tin\t1\n' >"$scratch/time.txt"
printf 'one\tcopy\t100\t50\t1\t1\n' >"$scratch/backwards.txt"
timeline='```{=html}\n<figure><timeline data="DATA" id="drawn" title="Work" PANELS/><figcaption>.</figcaption></figure>\n```'
timelines() { echo "$timeline" | sed "s|DATA|$scratch/$1|; s|PANELS|$2|"; }
plant '' "$(timelines time.txt 'panels="two,one"')"
verdict "the filter should draw a timeline: $(cat "$scratch/says")"
# The longest row ends at the right edge; the panels stand in the order asked for.
for words in '<title id="drawn">Work' '>two</text>' 'x="227.0" y="107.0" width="405.0"' '>400</text>' '>kernel</text>'; do
    grep -qF -- "$words" "$scratch/page.html"
    verdict "the filter should draw a timeline: there is no $words"
done
[ "$(grep -oE '>(one|two)</text>' "$scratch/page.html" | tr -d '\n')" = '>two</text>>one</text>' ]
verdict 'the panels of a timeline should stand in the order that is asked for'
refuses 'a timeline of what ends before it begins' '' "$(timelines backwards.txt '')" 'backwards.txt:1: is not a box'
refuses 'a panel that the timeline does not have' '' "$(timelines time.txt 'panels="three"')" 'has nothing of three'

finish
