#!/bin/sh
# Tests `make report`: that its pages have what the gradebook has, that nothing of a student's in them does anything, what is
# shown before a release and after it, and the pages in a browser. The grader of this tree has its result and its words from
# the file.
set -u
[ -x build/grader/class ] || { echo 'class-report: type make build/grader/class build/grader/sandbox first'; exit 1; }
. book/test/counting
. grader/holds.sh
here=$PWD
chmod 755 "$scratch"
tree=$scratch/tree class=$scratch/class grades=$scratch/grades said=$scratch/said
# shellcheck disable=SC2034
shown=$said

# ---- A tree with two lessons. A file has its result ("// is: {...}") and the words beside it ("// says: ...").

mkdir -p "$tree/lessons" "$tree/build/grader" "$tree/grader/wrong/01-one" "$tree/grader/wrong/02-two" "$tree/solutions"
cp VERSION "$tree"
cp solutions/*.awk "$tree/solutions"
cp grader/wrong.sh "$tree/grader"
ln -s "$here/book" "$tree/book"
ln -s "$here/grader/class" "$tree/grader/class"
ln -s "$here/build/grader/sandbox" "$tree/build/grader/sandbox"

# result VERDICT SPEED STEP GOLD [MORE]
result() {
    printf '{"number": 1, "device": "h200", "verdict": "%s", "score": {"speed": %s, "step": %s, "gold": %s}%s}' \
        "$1" "$2" "$3" "$4" "${5:+, $5}"
}
fact() { printf '"fact": {"verdict": "%s"%s}' "$1" "${2:+, $2}"; }
for lesson in 01-one 02-two; do
    : >"$tree/lessons/$lesson.md"
    printf '// is: %s\n' "$(result PASS 10 2 true)" >"$tree/solutions/$lesson.cu"
    cat >"$tree/build/grader/$lesson" <<'GRADER'
#!/bin/sh
sed -n 's|^// says: ||p' "$3"
if grep -q '^// is: {' "$3"; then sed -n 's|^// is: ||p' "$3" >"$2"; fi
GRADER
    chmod +x "$tree/build/grader/$lesson"
    for wrong in BOUNDS RACE WRONG; do
        printf '// expect: %s\n// is: %s\n' $wrong "$(result $wrong null null null)" >"$tree/grader/wrong/$lesson/$wrong.cu"
    done
done

# hand_in STUDENT LESSON RESULT [WORDS]
hand_in() {
    mkdir -p "$class/$1"
    {
        printf '// is: %s\n// of %s\n' "$3" "$1"
        printf '%s\n' "${4:-$(echo "$3" | sed 's/.*"verdict": "\([A-Z-]*\)".*/\1/')  in words}" | sed 's|^|// says: |'
    } >"$class/$1/$2.cu"
}
ada='Ada Lovelace'
eve='Eve "<img src=x onerror=alert(1)> & Co'
hand_in "$ada" 01-one "$(result PASS 10 2 true)"
hand_in "$ada" 02-two "$(result SLOW 7 1 null '"claims": [{"name": "sectors <b>loaded", "verdict": "SLOW", "step": 2},
    {"name": "bank conflicts", "verdict": "SLOW", "step": 3}, {"name": "launches", "verdict": "PASS"}]' | tr -d '\n')"
for student in Bob Cy Dee; do
    hand_in $student 01-one "$(result RACE null null null \
        "$(fact RACE "\"kind\": \"race\", \"cause\": \"barrier_missing\", \"says\": \"$student: two meet\", \"why\": \"Nothing orders them.\"")")"
done
hand_in Bob 02-two "$(result WRONG null null null "$(fact WRONG '"why": "The last <i>13</i> elements are missing."')")"
hand_in Cy 02-two "$(result PASS 10 3 false)"
hand_in Dee 02-two "$(result TODO null null null "$(fact WRONG '"why": "It is not begun."')")"
hand_in Fay 01-one "$(result CRASH null null null "$(fact CRASH)")"
hand_in Fay 02-two "$(result PASS 5 0 false)"
hand_in Gil 02-two "$(result MEMORY null null null "$(fact MEMORY '"kind": "leak"')")"
hand_in Gil 01-one 'nothing'
long=$(printf 'x%01500d' 0 | sed 's/0/é/g')
printf '%s\033[2J\001\377 %s\302\205%s\342\200\256\n%s\n\n  %s' '</samp></pre><script>alert(1)</script>' '"' "' onclick='x' <!-- ]]> &amp; &#60;" \
    '<style>*{}</style>' "$long" >"$scratch/words"
hand_in "$eve" 01-one "$(result PASS 10 1 false)" "$(cat "$scratch/words")"
mkdir -p "$class/$eve/a<script>alert(2)</script>"
cp "$class/$ada/02-two.cu" "$class/$eve/a<script>alert(2)</script>/02-two.cu"
cp "$class/$ada/02-two.cu" "$class/$eve/02-two.cu"
mkdir "$class/hal" "$grades"
cp "$class/$ada/02-two.cu" "$class/hal/of Hal Holt.txt"
echo no archive >"$class/Ivy O'Neill.zip"

# rules PAGES
rules() {
    cat >"$grades/class.cfg" <<CFG
$1
late = { budget = 2; penalty = 15; };
lessons = ( { name = "01-one"; deadline = "2026-10-04T17:00-07:00"; weight = 3; gold = 1; }, { name = "02-two"; } );
students = ( { name = "Fay"; excused = ( "02-two" ); } );
CFG
}
cat >"$class/manifest.csv" <<CSV
student,lesson,file,time
Bob,01-one,Bob/01-one.cu,2026-10-04T00:00Z
"$ada",01-one,$ada/01-one.cu,2026-10-07T12:00Z
CSV
printf 'student,submission\n%s,\nBob,\nCy,\nDee,\nFay,\nGil,\n"Eve ""<img src=x onerror=alert(1)> & Co",\nHal Holt,hal\nIvy O'"'"'Neill,\nNan,\n' "$ada" >"$grades/roster.csv"

class() { command=$1; shift; (cd "$tree" && "$here/build/grader/class" "$command" "GRADES=$grades" "$@") >"$said" 2>&1; }
grade() { (cd "$tree" && "$here/build/grader/class" "$class" "$grades") >"$said" 2>&1; }
works() { words=$1; shift; holds "$words" class "$@"; }
says() { holds "does not say: $1" grep -q -- "$1" "$said"; }
pages() { python3 grader/test/class/report.py "$@" >"$said" 2>&1; }
nothing() { pages "$@" && [ ! -s "$said" ]; }
index=$grades/report/index.html
page_of() { python3 -c 'import csv, sys
print(next(f"{sys.argv[1]}/report/{r[0]}.html" for r in csv.reader(open(f"{sys.argv[1]}/pseudonyms.csv")) if r[1] == sys.argv[2]))' "$grades" "$1"; }
# shows PAGE WORDS, hides PAGE WORDS, row PAGE CAPTION ROW
finds() { pages words "$1" && grep -qF -- "$2" "$said"; }
finds_none() { pages words "$1" && ! grep -qF -- "$2" "$said"; }
finds_row() { pages rows "$1" "$2" && grep -qxF -- "$3" "$said"; }
shows() { holds "the page does not show: $2" finds "$1" "$2"; }
hides() { holds "the page shows: $2" finds_none "$1" "$2"; }
row() { holds "no row: $3" finds_row "$1" "$2" "$3"; }
has_none() { ! grep -rqF -- "$1" "$2"; }

# ---- What is graded: the pages have what the gradebook has

rules 'pages = "graded";'
grade
holds 'a class is not graded' [ "$(wc -l <"$grades/gradebook.csv")" -eq 21 ]
cp "$grades/gradebook.csv" "$scratch/book"
works 'no report' report
says 'a page for each of 10 students'
holds 'a report changes the gradebook' cmp -s "$grades/gradebook.csv" "$scratch/book"
holds 'the pages and the gradebook differ' nothing compare "$grades"
row "$index" 'Students who pass, have gold, and have reached a step and none beyond' '02-two|1|0|0|1|0|1'
row "$index" '01-one: points, of 10' '10|2'
row "$index" '01-one: points, of 10' 'not known|1'
row "$index" 'All lessons: mistakes' 'RACE, as in: Bob: two meet. Nothing orders them.|01-one|3'
holds 'the commonest mistake is not the first' [ "$(sed -n '1s/.*|//p' "$said")" = 3 ]
row "$index" '02-two: mistakes' 'WRONG: The last <i>13</i> elements are missing.|02-two|1'
row "$index" '02-two: mistakes' 'SLOW: sectors <b>loaded|02-two|1'
row "$index" '02-two: mistakes' 'MEMORY: leak|02-two|1'
row "$index" '01-one: mistakes' 'CRASH: the program died, or CUDA refused a launch or another call|01-one|1'
holds 'a lesson that is not begun, or a step beyond the next, is a mistake' [ "$(pages rows "$index" 'All lessons: mistakes'; grep -cE 'TODO|bank' "$said")" -eq 0 ]
pages rows "$index" 'Marks without a verdict'
says '|02-two|REFUSED|it is there twice, as .*a<script>alert(2)</script>/02-two.cu'
says 'Hal Holt|01-one|REFUSED|no file in it is named as those in exercises/ are; it has of [0-9a-f]\{12\}.txt'
says '|01-one|GRADER-ERROR|'
says '|01-one|MISSING|'
row "$(page_of "$ada")" Lessons '01-one|PASS|2|9.35|10|yes|3|1.65|2026-10-04 17:00 UTC-07:00'
shows "$(page_of "$ada")" 'Deadline: 2026-10-04 17:00 UTC-07:00. Days late: 3. Late days spent on it: 2. Points lost: 1.65.'
hides "$(page_of Bob)" 'Days late'
row "$(page_of "$ada")" 'What the verdicts mean' 'SLOW|right, but far from what the device can do|the line with the worst access, and the counter that says so'
holds 'a verdict is explained that the page does not have' [ "$(pages rows "$(page_of Bob)" 'What the verdicts mean'; cut -d '|' -f 1 "$said" | paste -sd ,)" = RACE,WRONG ]
for verdict in $(sed 1d "$grades/gradebook.csv" | python3 -c 'import csv, sys
print(*{r[2] for r in csv.reader(sys.stdin)})'); do
    pages rows "$(dirname "$index")/$(python3 -c 'import csv, sys
name = next(r[0] for r in csv.reader(open(f"{sys.argv[1]}/gradebook.csv")) if r[2] == sys.argv[2])
print(next(r[0] for r in csv.reader(open(f"{sys.argv[1]}/pseudonyms.csv")) if r[1] == name))' "$grades" "$verdict").html" 'What the verdicts mean'
    says "\\($verdict\\||.*$verdict|\\)"
done

# ---- Nothing in a page does anything

holds 'a page could do something' nothing inert "$grades"/report/*.html
pages words "$(page_of "$eve")"
cp "$said" "$scratch/eve"
tr '\1' '?' <<'END' | sed "s/LONG/$long/" >"$scratch/expected"
</samp></pre><script>alert(1)</script>?[2J?? "?' onclick='x' <!-- ]]> &amp; &#60;?
<style>*{}</style>

  LONG
END
holds 'a student reads other words than those that were told' python3 -c 'import sys
a, b = (open(f).read() for f in sys.argv[1:]); sys.exit(b not in a)' "$scratch/eve" "$scratch/expected"
gil=$(basename "$(page_of Gil)" .html)
printf 'a\0b\n' >"$grades/results/$gil/01-one.txt"
mv "$grades/results/$(basename "$(page_of Cy)" .html)/01-one.txt" "$scratch/words"
works 'no report of odd words' report
shows "$(page_of Gil)" 'a?b'
shows "$(page_of Cy)" 'The words of this verdict are missing.'
mv "$scratch/words" "$grades/results/$(basename "$(page_of Cy)" .html)/01-one.txt"
works 'no report of words that are back' report
names() {
    for name in "$ada" Lovelace Bob 'Eve' Holt Neill; do
        holds "a name is in $*: $name" has_none "$name" "$@"
    done
}
names "$grades"/report/????????????.html
shows "$index" "Ivy O'Neill"
cp "$grades/class.cfg" "$scratch/rules"
echo 'names = "hidden";' >>"$grades/class.cfg"
sed -i 's/Bob: two meet/They meet/' "$grades"/results/*/01-one.json
works 'no report without names' report
names "$grades/report"
holds 'the pages and the gradebook differ without names' nothing compare "$grades"
cp "$scratch/rules" "$grades/class.cfg"
works 'no report with names' report

# ---- Who may read it, and that it is written whole

others_can() { find "$grades" ! -name class.cfg ! -name roster.csv ! -path "$grades/sealed/*/exercises/*.cu" -perm /066; }
holds "others can read $(others_can | head -n 3)" [ -z "$(others_can)" ]
cp -r "$grades/report" "$scratch/report"
chmod 755 "$grades"
: >"$grades/report/0123456789ab.html"
: >"$grades/report/index.html.abcdef"
: >"$grades/report/mine.html"
works 'no second report' report
rm "$grades/report/mine.html"
holds 'others can read what they could before' [ -z "$(others_can)" ]
holds 'the same grades give other pages, or others are left' diff -r "$grades/report" "$scratch/report"
(cd "$tree" && ulimit -f 8 && trap '' XFSZ && "$here/build/grader/class" report "GRADES=$grades") >"$said" 2>&1
says 'report/.*html: File too large'
holds 'a page that could not be written whole was written' diff -r "$grades/report" "$scratch/report"

# ---- What is released

rules ''
works 'no report before a release' report
says "not on the students' pages: 20\."
shows "$(page_of "$ada")" 'The total follows'
hides "$(page_of "$ada")" 'in words'
row "$(page_of "$ada")" Lessons '01-one|not released yet|||10||||2026-10-04 17:00 UTC-07:00'
shows "$index" 'Marks that are not: 20 of 20'
row "$index" '01-one: verdicts' 'PASS|2|1'
class comment STUDENT=Bob LESSON=1 WHO=Grace WORDS='too early for <b>Bob</b>'
holds 'a lesson is not released' class release WHO=Grace LESSON=1 STUDENT=Bob
works 'no report after a release' report
says "not on the students' pages: 19\."
row "$(page_of Bob)" Lessons '01-one|RACE||0|10||0||2026-10-04 17:00 UTC-07:00'
row "$(page_of Bob)" Lessons '02-two|not released yet|||10||||'
shows "$(page_of Bob)" 'RACE  in words'
shows "$(page_of Bob)" 'make replay TOKEN=1:'
shows "$(page_of Bob)" "comment by Grace: too early for <b>$(basename "$(page_of Bob)" .html)</b>"
hides "$(page_of Bob)" 'Total:'
works 'no appeal' appeal STUDENT=Bob LESSON=1 WHO=Bob WORDS='it ran at home'
works 'no second lesson is released' release WHO=Grace LESSON=2 STUDENT=Bob
works 'no report of an appeal' report
shows "$(page_of Bob)" "appeal by $(basename "$(page_of Bob)" .html): it ran at home"
holds 'an appeal is shown for another lesson' [ "$(grep -c 'it ran at home' "$said")" -eq 1 ]
shows "$(page_of Bob)" 'Total: 0 %'

# What was released stays on the page, with its words, until the next release.
hand_in Bob 01-one "$(result PASS 10 2 true)"
grade
works 'no report of a newer file' report
row "$index" '01-one: verdicts' 'PASS|2|2'
row "$(page_of Bob)" Lessons '01-one|RACE||0|10||||2026-10-04 17:00 UTC-07:00'
shows "$(page_of Bob)" 'RACE  in words'
shows "$(page_of Bob)" 'A newer one is not released yet'
hides "$(page_of Bob)" 'PASS'
class release WHO=Grace LESSON=1 STUDENT=Bob
works 'an override is refused' override STUDENT=Bob LESSON=1 POINTS=12 WHO=Grace WHY='<em>well done</em>'
works 'no report of an override' report
row "$(page_of Bob)" Lessons '01-one|PASS|2|11|10|yes|0||2026-10-04 17:00 UTC-07:00'
hides "$(page_of Bob)" 'well done'
class release WHO=Grace LESSON=1 STUDENT=Bob
works 'no report of what is overridden' report
shows "$(page_of Bob)" 'Grace changed the points from 11 to 12: <em>well done</em>'
hides "$(page_of Bob)" 'RACE'
rules 'pages = "graded";'

# What is not trusted has no words.
cy=$(basename "$(page_of Cy)" .html)
sed -i 's/"trusted": "yes"/"trusted": "no"/' "$grades/results/$cy/02-two.json"
works 'an override below a point is refused' override STUDENT=Fay LESSON=1 POINTS=0.4 WHO=Grace WHY=w
works 'no report of what is not trusted' report
row "$index" 'Marks without a verdict' 'Cy|02-two|UNTRUSTED|'
row "$(page_of Cy)" Lessons '02-two|UNTRUSTED|||10||||'
hides "$(page_of Cy)" 'PASS'
holds 'with it, the pages and the gradebook differ' nothing compare "$grades"
holds 'with all that, a page could do something' nothing inert "$grades"/report/*.html

# ---- Forgetting

dee=$(page_of Dee)
works 'nobody is forgotten' forget STUDENT=Dee WHO=Grace
holds 'a page is left' [ ! -e "$dee" ]
holds 'the class has a mark of the forgotten' [ ! -e "$index" ]
works 'no report without the forgotten' report
says 'a page for each of 9 students'
holds 'the page comes back' [ ! -e "$dee" ]
holds 'the pseudonym comes back' has_none "$(basename "$dee" .html)" "$index"

lists() { make -s help >"$said" && grep -q "make $1 " "$said"; }
holds 'make help does not list the command' lists report

# ---- In a browser: as they are, and, for axe, with no policy against its script

mkdir "$scratch/pages"
. book/test/looking
for page in "$index" "$(page_of "$eve")"; do
    cp "$page" "$scratch/pages/${page##*/}"
    sed 's/<meta http-equiv[^>]*>//' "$page" >"$scratch/pages/open-${page##*/}"
done
look_at_pages
echo "class-report: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
