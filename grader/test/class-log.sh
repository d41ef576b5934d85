#!/bin/sh
# Tests what is done with a class's marks once it is graded: the log, releases with their canaries, regrading, overrides, comments
# and appeals, forgetting, in a tree whose grader takes the mark from the file; and `make replay`, with lesson 1 as it is.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel class study sandbox
here=$PWD
tree=$scratch/tree said=$scratch/said
# shellcheck disable=SC2034
shown=$said

# ---- A tree with two lessons. A file says its mark ("// is: SLOW 7 1"), and the tree's file `changes` what a grader makes of it.

mkdir -p "$tree/lessons" "$tree/build/grader" "$tree/grader/wrong/01-one" "$tree/grader/wrong/02-two" "$tree/solutions"
cp VERSION "$tree"
cp solutions/*.awk "$tree/solutions"
cp grader/wrong.sh "$tree/grader"
ln -s "$here/build/grader/sandbox" "$tree/build/grader/sandbox"
: >"$tree/changes"
for lesson in 01-one 02-two; do
    : >"$tree/lessons/$lesson.md"
    echo '// is: PASS 10 2' >"$tree/solutions/$lesson.cu"
    cat >"$tree/build/grader/$lesson" <<'SH'
#!/bin/sh
tree=${0%/build/*}
# shellcheck disable=SC2046
set -- "$2" "$3" $(sed -n 's|^// is: ||p' "$3" | sed -f "$tree/changes")
echo "$SEED" >>"$tree/calls"
echo "$3, in words"
[ "$3" = GRADER-ERROR ] ||
    echo "{\"number\": 1, \"device\": \"h200\", \"verdict\": \"$3\", \"score\": {\"speed\": $4, \"step\": $5${6:+, \"gold\": $6}}}" >"$1"
SH
    chmod +x "$tree/build/grader/$lesson"
    # wrong NAME EXPECTED MARK: the first three of different verdicts are canaries, and no TIMEOUT.
    wrong() { printf '// expect: %s\n// is: %s\n' "$2" "$3" >"$tree/grader/wrong/$lesson/$1.cu"; }
    wrong a TIMEOUT 'TIMEOUT 0 null'
    wrong b BOUNDS 'BOUNDS 0 null'
    wrong c BOUNDS 'CRASH 0 null'
    wrong d 'STEP 1' 'SLOW 7 1'
    wrong e WRONG 'WRONG 0 null'
    wrong f RACE 'PASS 10 2'
done

# hand_in STUDENT LESSON MARK
hand_in() {
    mkdir -p "$class/$1"
    printf '// is: %s\n// of %s\n' "$3" "${4:-$1}" >"$class/$1/$2.cu"
}
hand_in 'Ada Lovelace' 01-one 'PASS 10 2'
hand_in 'Ada Lovelace' 02-two 'SLOW 7 1'
hand_in Bob 01-one 'SLOW 7 1'
hand_in Bob 02-two 'WRONG 0 null' 'Ada and Bob'
hand_in Cy 02-two 'WRONG 0 null' 'Ada and Bob'

# class COMMAND NAME=VALUE...: of that class, in that tree.
class() { command=$1; shift; (cd "$tree" && "$here/build/grader/class" "$command" "GRADES=$grades" "$@") >"$said" 2>&1; }
grade() { (cd "$tree" && "$here/build/grader/class" "$class" "$grades") >"$said" 2>&1; }
works() { words=$1; shift; holds "$words" class "$@"; }
refused() { ! class "$@"; }
fails() { words=$1; shift; holds "$words" refused "$@"; }
says() { holds "does not say: $1" grep -q -- "$1" "$said"; }
row() { holds "no row: $1 ($(grep "^${1%%,*}" "$grades/gradebook.csv"))" grep -q -- "^$1" "$grades/gradebook.csv"; }
lines() { holds "the log has $(wc -l <"$grades/log.jsonl") lines, not $1" [ "$(wc -l <"$grades/log.jsonl")" -eq "$1" ]; }
calls() { holds "graded $(wc -l <"$tree/calls") times, not $1" [ "$(wc -l <"$tree/calls")" -eq "$1" ]; : >"$tree/calls"; }
files() { find "$grades/results" -name "$1" | wc -l; }
ada='Ada Lovelace'

holds 'a class is not graded' grade
calls 5
row 'Bob,01-one,SLOW,1,7,'

# ---- Who is meant, and what is missing

fails 'a student who is not there has a mark' override STUDENT=Dan LESSON=1 POINTS=3 WHO=G WHY=w
says 'There is no student Dan'
fails 'a lesson that is not there has marks' override STUDENT=Bob LESSON=77 POINTS=3 WHO=G WHY=w
says 'There is no lesson 77'
fails 'a word that begins with a number is a lesson' override STUDENT=Bob LESSON=1x POINTS=3 WHO=G WHY=w
says 'There is no lesson 1x'
fails 'a name without end is one' override STUDENT=Bob LESSON=1 POINTS=3 WHO="$(printf 'G%0200d' 0)" WHY=w
says 'WHO is the name of a person'
for missing in STUDENT LESSON POINTS WHO WHY; do
    set -- STUDENT=Bob LESSON=1 POINTS=3 WHO=G WHY=w
    for word in "$@"; do
        shift
        case $word in $missing=*) set -- "$@" "$missing=" ;; *) set -- "$@" "$word" ;; esac
    done
    fails "an override needs no $missing" override "$@"
    says "$missing is missing"
done
# What each command needs, and what it takes besides: nothing that it needs can be left out, and nothing else is taken.
example() {
    case $1 in
    STUDENT) echo STUDENT=Bob ;;
    LESSON | APPLY | LOWER) echo "$1=1" ;;
    POINTS) echo POINTS=3 ;;
    SUBMISSIONS) echo "SUBMISSIONS=$class" ;;
    *) echo "$1=G" ;;
    esac
}
while read -r verb needed others; do
    for word in STUDENT LESSON POINTS WHO WHY WORDS APPLY LOWER; do
        set --
        for other in $(echo "$needed" | tr , ' '); do [ "$other" = "$word" ] || set -- "$@" "$(example "$other")"; done
        case ,$needed, in
        *,"$word",*)
            fails "$verb needs no $word" "$verb" "$@"
            says "^$word is missing" ;;
        *) case ,$others, in
            *,"$word",*) ;;
            *)
                fails "$verb takes $word" "$verb" "$@" "$(example "$word")"
                says "^$verb does not take $word" ;;
            esac ;;
        esac
    done
    for word in WHOM=G W=G =G; do
        fails "$verb takes $word" "$verb" "$word"
        says "^$word: there is no such setting"
    done
    (cd "$tree" && "$here/build/grader/class" "$verb" "LESSON=") >"$said" 2>&1
    says '^[A-Z]* is missing'
done <<'COMMANDS'
release WHO STUDENT,LESSON,WHY,LOWER
regrade WHO,WHY STUDENT,LESSON,APPLY,LOWER
override STUDENT,LESSON,POINTS,WHO,WHY LOWER
comment STUDENT,LESSON,WHO,WORDS
appeal STUDENT,LESSON,WHO,WORDS
forget STUDENT,WHO WHY
report
variant , LESSON
log , STUDENT,LESSON
COMMANDS
for switch in APPLY LOWER; do
    fails "$switch=yes is taken" regrade WHO=G WHY=w "$switch=yes"
    says "$switch is 1, or left out"
done
for points in -1 nan 7.123 x 1e99 1001; do
    fails "POINTS=$points are points" override STUDENT=Bob LESSON=1 "POINTS=$points" WHO=G WHY=w
    says 'a number from 0 to 1000'
done
fails 'WHO is a number' override STUDENT=Bob LESSON=1 POINTS=3 WHO=17 WHY=w
fails 'bytes that are no text are taken' comment STUDENT=Bob LESSON=1 WHO=G WORDS="$(printf 'a\377')"
says 'not UTF-8'
fails 'an escape sequence is taken' comment STUDENT=Bob LESSON=1 WHO=G WORDS="$(printf '\033[2J')"
says 'control character'
fails 'what is not known is taken' comment STUDENT=Bob LESSON=1 WHO=G WORDS=w POINTS=3
holds 'what was refused is in the log' [ ! -e "$grades/log.jsonl" ]
(cd "$tree" && "$here/build/grader/class" override GRADES="$scratch/none" STUDENT=B LESSON=1 POINTS=1 WHO=G WHY=w) >"$said" 2>&1
says 'no class was graded'
holds 'and makes that folder' [ ! -e "$scratch/none" ]
"$here/build/grader/class" --help >"$said" 2>&1
holds 'help is an error' [ $? -eq 0 ]
says '^make regrade WHO="your name" WHY="the reason" .*\[APPLY=1\]'
"$here/build/grader/class" >"$said" 2>&1
holds 'no word at all is not refused' [ $? -eq 2 ]
says '^make appeal STUDENT="Ada Lovelace"'

# ---- Releases

works 'nothing is released' release WHO='Grace Hopper'
says 'Canaries: 8 graded, 0 failed'
says 'Released: 6 marks' # one of them is of what was not handed in
calls 8
lines 6
works 'a release is no second one' release WHO='Grace Hopper'
says 'Released: 0 marks, and 6'
lines 6
: >"$tree/calls"
echo 's/^SLOW 7 1$/SLOW 4 0/' >"$tree/changes"
hand_in Bob 01-one 'PASS 10 2'
grade
holds 'the result of the file before is gone' [ "$(files '01-one.????????????.json')" -eq 1 ]
# terminal COMMAND: the same on a terminal, by G.
terminal() { (cd "$tree" && script -qec "'$here/build/grader/class' $1 'GRADES=$grades' WHO=G WHY=w" "$said" >/dev/null </dev/null); }
terminal regrade
says '0 of 5 files graded.*5 of 5 files graded, [0-9]* a minute, 0 s left'
find "$grades/results" -name '*.regraded.*' -delete
terminal release
says '0 of 8 canaries graded.*8 of 8 canaries graded, [0-9]* a minute, 0 s left'
lines 6
fails 'a changed canary stops nothing' release WHO='Grace Hopper'
says 'Canary failed: grader/wrong/01-one/d.cu should be STEP 1, and is SLOW, step 0'
lines 6
printf '// expect: TIMEOUT\n// is: TIMEOUT 0 null\n' >"$tree/grader/wrong/02-two/e.cu"
cp "$tree/grader/wrong/02-two/e.cu" "$tree/grader/wrong/02-two/f.cu"
rm "$tree/grader/wrong/02-two/d.cu"
fails 'two canaries are enough' release WHO='Grace Hopper'
says '2 of its files can be canaries'
: >"$tree/changes"
works 'LESSON=1 is not released' release WHO='Grace Hopper' LESSON=1
says 'Released: 1 marks'
lines 7

# ---- Regrading: another version has other marks

echo 9.9.9 >"$tree/VERSION"
printf 's/^SLOW 7 1$/PASS 10 2/;t\ns/^PASS 10 2$/SLOW 7 1/;t\n' >"$tree/changes"
: >"$tree/calls"
cp "$grades/gradebook.csv" "$scratch/before.csv"
holds 'a newer version does not run' grade
calls 0
says '5 results are of another version than 9.9.9'
holds 'a newer version changes the gradebook' cmp -s "$grades/gradebook.csv" "$scratch/before.csv"
works 'nothing is shown' regrade WHO=G WHY='the reference was wrong'
calls 5
says "Bob's 01-one: PASS, 10 points -> SLOW, 7 points"
says 'Nothing was changed'
holds 'what is shown is applied' cmp -s "$grades/gradebook.csv" "$scratch/before.csv"
lines 7
works 'it is not shown again' regrade WHO=G WHY='the reference was wrong'
calls 5
cp -r "$grades/results" "$scratch/results"
fails 'a released mark is lowered in silence' regrade WHO=G WHY='the reference was wrong' APPLY=1
calls 0
says "Kept: Bob's 01-one was released as PASS, 10 points"
says 'Applied: 3 results'
lines 10
row 'Bob,01-one,PASS,2,10,'
row 'Bob,02-two,WRONG,,0,.*,9.9.9,'
holds 'the old results are gone' [ $(($(files '*.[89].json') + $(files '*.10.json'))) -eq 3 -a $(($(files '*.[89].txt') + $(files '*.10.txt'))) -eq 3 ]
# A run that was killed after its lines were written: the files are as they were.
cp "$grades/gradebook.csv" "$scratch/after.csv"
rm -r "$grades/results"
cp -r "$scratch/results" "$grades/results"
fails 'a released mark is lowered the second time' regrade WHO=G WHY='the reference was wrong' APPLY=1
lines 10
holds 'what was killed does not go on' cmp -s "$grades/gradebook.csv" "$scratch/after.csv"
works 'LOWER=1 does not lower' regrade WHO='Grace Hopper' WHY='the reference was wrong' STUDENT=Bob LESSON=1 APPLY=1 LOWER=1
says "Lowered by Grace Hopper: Bob's 01-one"
row 'Bob,01-one,SLOW,1,7,'
echo 's/.*/GRADER-ERROR 0 null/' >"$tree/changes"
fails 'the failure of a grader is a mark' regrade WHO=G WHY=w STUDENT=Cy APPLY=1
says "Not graded anew: Cy's"
row 'Cy,02-two,WRONG,,0,'
: >"$tree/changes"

# ---- Overrides, comments, appeals

n=$(wc -l <"$grades/log.jsonl")
works 'nothing is overridden' override "STUDENT=$ada" LESSON=02 POINTS=8.5 WHO='Grace Hopper' \
    WHY='Ada, that is Ada Lovelace, not Adam, found a mistake'
row 'Ada Lovelace,02-two,.*,8.5,.*,from 10 by Grace Hopper$'
fails 'an override lowers what was released' override STUDENT=Bob LESSON=1 POINTS=3 WHO=G WHY=w
row 'Bob,01-one,SLOW,1,7,'
works 'it does not with LOWER=1' override STUDENT=Bob LESSON=1 POINTS=3 WHO=G WHY=w LOWER=1
row 'Bob,01-one,SLOW,1,3,.*from 7 by G$'
works 'it is not taken back' override STUDENT=Bob LESSON=1 POINTS=graded WHO=G WHY=w LOWER=1
row 'Bob,01-one,SLOW,1,7,.*,$'
works 'no comment' comment STUDENT=Cy LESSON=2 WHO=G WORDS='Cy and Cyrus asked; "quoted", ünïcode'
mv "$class" "$class moved"
fails 'a class is found where it is not' comment STUDENT=Cy LESSON=2 WHO=G WORDS=w
says "$class: .* say where they are now, with SUBMISSIONS=FOLDER"
works 'no appeal' appeal STUDENT=Cy LESSON=02-two WHO=Cy WORDS='it ran at home' SUBMISSIONS="$class moved"
mv "$class moved" "$class"
lines $((n + 5))
holds 'a name is in the log' [ -z "$(grep -e 'Ada[ ,]' -e Lovelace -e 'Cy[ "]' -e Bob "$grades/log.jsonl")" ]
holds 'a word that begins as a name is taken out' grep -q 'Adam' "$grades/log.jsonl"
works 'the log is not shown' log STUDENT=Cy LESSON=2
says "^Line $((n + 5)), .* appeal by [0-9a-f]*: [0-9a-f]* 02-two. it ran at home"
hand_in "$ada" 01-one 'WRONG 0 null'
works 'nothing is overridden twice' override "STUDENT=$ada" LESSON=2 POINTS=8.75 WHO=G WHY=w
row 'Ada Lovelace,01-one,,,,,,no,' # a file that is newer than the result
hand_in "$ada" 01-one 'PASS 10 2'
grade
row 'Ada Lovelace,01-one,PASS,2,10,'
row 'Ada Lovelace,02-two,.*,8.75,'

# ---- The log holds what was written

cp "$grades/log.jsonl" "$scratch/log"
cp "$grades/log.last" "$scratch/last"
# spoilt WORDS LINE: the log as it is now is refused, by a line's number and by whoever reads it; then it is put back.
spoilt() {
    fails "$1: is not found" log
    says "log.jsonl:$2: "
    holds "$1: a mark is changed with it" refused comment STUDENT=Cy LESSON=2 WHO=G WORDS=w
    holds "$1: a class is graded with it" eval '! grade'
    cp "$scratch/log" "$grades/log.jsonl"
    cp "$scratch/last" "$grades/log.last"
}
all=$(wc -l <"$scratch/log")
sed -i '3s/10/11/' "$grades/log.jsonl" && spoilt 'a changed line' 3
sed -i 3d "$grades/log.jsonl" && spoilt 'a line taken out' 3
sed -i '$d' "$grades/log.jsonl" && spoilt 'the last line taken off' $((all - 1))
sed -i '$s/who":"G/who":"H/' "$grades/log.jsonl" && spoilt 'a changed last line' "$all"
sed -n 1p "$scratch/log" >>"$grades/log.jsonl" && spoilt 'a line twice' $((all + 1))
rm "$grades/log.last" && spoilt 'no end noted' "$all"
rm "$grades/log.jsonl" && spoilt 'no log' 1
# noted N: the end is noted to be line N.
noted() { sed -n "$1"'s/.*"chain":"\([0-9a-f]*\)".*"n":\([0-9]*\),.*/\2 \1/p' "$scratch/log" >"$grades/log.last"; }
sed -i 's/ .*/ '"$(printf '%064d' 0)/" "$grades/log.last" && spoilt 'another end noted' "$all"
noted $((all - 2)) && spoilt 'an end noted two lines ago' "$all"
noted $((all - 1)) && works 'a run killed before it noted the end stops all' log
cp "$scratch/last" "$grades/log.last"
holds 'the log is not as it was' class log

# A line that was cut short is said, stays, and is bridged; also when its bridge is cut.
for piece in '{"chain":"00' '{'; do
    printf %s "$piece" >>"$grades/log.jsonl"
    works 'a cut line stops all' log
    says 'was cut short'
done
works 'nothing is written after a cut line' comment STUDENT=Cy LESSON=2 WHO=G WORDS=w
lines $((all + 3))
works 'a bridged line is wrong' log
says 'but for 1 that were cut short'
holds 'the cut line is gone' grep -q '^{"chain":"00{$' "$grades/log.jsonl"
cp "$grades/log.jsonl" "$scratch/log"
cp "$grades/log.last" "$scratch/last"
sed -i 's/^{"chain":"00{$/{"chain":"01{/' "$grades/log.jsonl" && spoilt 'another cut line' $((all + 1))
sed -i '/^{"chain":"00{$/d' "$grades/log.jsonl" && spoilt 'a cut line taken out' $((all + 1))
# A line that lacks its newline alone is whole.
truncate -s -1 "$grades/log.jsonl"
works 'a line without its newline is lost' comment STUDENT=Cy LESSON=2 WHO=G WORDS=w
lines $((all + 4))

holds "others can read $(others_can | head -n 4 | xargs)" [ -z "$(others_can)" ]

# ---- Forgetting

bob=$(sed -n 's/,Bob$//p' "$grades/pseudonyms.csv")
mkdir -p "$grades/report" "$grades/viva/$bob/sealed" "$grades/similar"
: >"$grades/report/$bob.html"
: >"$grades/similar/01-one.txt"
works 'nobody is forgotten' forget STUDENT=Bob WHO=G
holds 'results are left' [ ! -e "$grades/results/$bob" ]
holds 'a page is left' [ ! -e "$grades/report/$bob.html" ]
holds 'a viva is left' [ ! -e "$grades/viva/$bob" ]
holds 'a list of who is alike is left' [ ! -e "$grades/similar/01-one.txt" ]
holds 'the link is left' [ -z "$(grep -r Bob "$grades"/*.csv)" ]
sealed_of() { find "$grades/sealed" -type f -exec grep -l "$1" {} +; }
holds 'a sealed file is left' [ -z "$(sealed_of 'of Bob')" ]
holds "another student's sealed file is gone" [ "$(sealed_of 'of Ada and Bob' | wc -l)" -eq 1 ]
holds 'it is not in the log' grep -q "\"student\":\"$bob\",.*\"what\":\"forget\"" "$grades/log.jsonl"
n=$(wc -l <"$grades/log.jsonl")
grade
says 'Left out: 1 student who was forgotten'
holds 'a forgotten student comes back' [ -z "$(grep Bob "$grades/gradebook.csv")$(sealed_of 'of Bob')" ]
mkdir "$grades/results/$bob"
works 'a run that was killed is not made again' forget STUDENT=Bob WHO=G
holds 'results are left the second time' [ ! -e "$grades/results/$bob" ]
lines "$n"
fails 'a forgotten student is overridden' override STUDENT=Bob LESSON=1 POINTS=3 WHO=G WHY=w
says 'Bob was forgotten'

# ---- What the grader failed at is no mark, and tried again

hand_in Dee 01-one 'GRADER-ERROR 0 null'
grade
row 'Dee,01-one,GRADER-ERROR,,,,'
says '^1 of 1 are GRADER-ERROR, the grader.s own failure, and cost no points. Read .*/01-one.txt, mend that'
fails 'the failure of a grader is released' release WHO=G STUDENT=Dee
says "Not released: Dee's 01-one, whose grading failed"
echo 's/^GRADER-ERROR.*/PASS 10 2/' >"$tree/changes"
grade
row 'Dee,01-one,PASS,2,10,'
works 'nor then' release WHO=G STUDENT=Dee

echo 'no archive' >"$class/Fay.zip"
grade
works 'an archive that was refused stops a release' release WHO=G STUDENT=Fay
says 'Released: 2 marks'

# Two submissions of a group whose first member was forgotten.
mkdir "$class/pair"
cp "$class/$ada/01-one.cu" "$class/pair/a.cu"
cp "$class/$ada/02-two.cu" "$class/pair/b.cu"
printf 'group,student\npair,Bob\npair,Gil\n' >"$grades/groups.csv"
printf 'student,lesson,file,time\npair,01-one,pair/%s.cu,2026-10-0%s\n' a 1T00:00Z >"$class/manifest.csv"
printf 'pair,01-one,pair/%s.cu,2026-10-0%s\n' b 2T00:00Z >>"$class/manifest.csv"
grade
row 'Gil,01-one,'
holds 'one of two submissions has the result of the other' [ "$(files '01-one-2.json')" -eq 1 ]
holds 'a forgotten member has a mark' [ -z "$(grep Bob "$grades/gradebook.csv")" ]

# ---- Late days and a group, released and then regraded

class=$scratch/late grades=$scratch/lategrades
mkdir -p "$class" "$grades"
: >"$tree/changes"
hand_in Hal 01-one 'SLOW 7 1'
hand_in Hal 02-two 'PASS 10 2'
hand_in two 02-two 'SLOW 5 0'
printf 'group,student\ntwo,Ivy\ntwo,Joe\n' >"$grades/groups.csv"
printf 'student,lesson,file,time\n%s\n%s\n%s\n' 'Hal,01-one,Hal/01-one.cu,2026-10-01T12:00Z' 'Hal,02-two,Hal/02-two.cu,2026-10-08T12:00Z' \
    'two,02-two,two/02-two.cu,2026-10-09T12:00Z' >"$class/manifest.csv"
cat >"$grades/class.cfg" <<'CFG'
late = { budget = 1; penalty = 10.0; };
lessons = ( { name = "01-one"; deadline = "2026-10-01T00:00Z"; }, { name = "02-two"; deadline = "2026-10-08T00:00Z"; } );
CFG
grade
row 'Hal,01-one,SLOW,1,7,,1,' # the day of the budget
row 'Hal,02-two,PASS,2,9,,1,' # a day beyond it
row 'Ivy,02-two,SLOW,0,4.5,,2,' # one of two days
row 'Joe,02-two,SLOW,0,4.5,,2,'
printf '// expect: MEMORY\n// is: MEMORY 0 null\n' >"$tree/grader/wrong/02-two/g.cu"
printf '// expect: BOUNDS\n// is: BOUNDS 0 null\n' >"$tree/grader/wrong/02-two/c.cu"
works 'late marks are not released' release WHO=G STUDENT=Hal
works "a group's second member alone has no release" release WHO=G STUDENT=Joe
: >"$tree/calls"
printf 's/SLOW 7 1/PASS 10 2/\nt\ns/SLOW 5 0/SLOW 7 1/\n' >"$tree/changes"
works 'late marks are not regraded' regrade WHO=G WHY=w APPLY=1
calls 3
row 'Hal,01-one,PASS,2,10,,1,'
row 'Hal,02-two,PASS,2,9,,1,'
row 'Ivy,02-two,SLOW,1,6.3,,2,'
row 'Joe,02-two,SLOW,1,6.3,,2,'
echo 's/SLOW 5 0/WRONG 0 null/' >"$tree/changes"
fails "the second member's released mark is lowered" regrade WHO=G WHY=w APPLY=1 LESSON=2
row 'Joe,02-two,SLOW,1,6.3,,2,'
holds 'a member has no line in the log' [ "$(grep -c '"does":"regrade".*"lesson":"02-two"\|"lesson":"02-two".*regrade' "$grades/log.jsonl")" -eq 3 ]
echo 's/SLOW 7 1/WRONG 0 null/' >"$tree/changes"
fails 'a released mark falls with what it costs to be late' regrade WHO=G WHY=w APPLY=1
row 'Hal,01-one,PASS,2,10,,1,'
works 'a mark cannot be lowered by a word' regrade WHO=G WHY=w APPLY=1 LOWER=1
row 'Hal,01-one,WRONG,,0,,1,' # worth nothing, it takes no day
row 'Hal,02-two,PASS,2,10,,1,'
row 'Ivy,02-two,WRONG,,0,,2,' # as it was shown before
row 'Joe,02-two,WRONG,,0,,2,'
works "the log of a group's marks does not hold" log
echo 'students = ( { name = "Joe"; excused = ( "01-one" ); } );' >>"$grades/class.cfg"
grade
fails 'an excused student is given points' override STUDENT=Joe LESSON=1 POINTS=3 WHO=G WHY=w
says 'is excused'
row 'Joe,01-one,EXCUSED,,,'

# ---- Regrading: what is a change, whose it is, and what a run leaves that ends between the log and the files

class=$scratch/again grades=$scratch/againgrades
mkdir -p "$class" "$grades"
: >"$tree/changes"
hand_in Kim 01-one 'SLOW 7 1 false'
hand_in three 01-one 'PASS 10 2'
printf 'group,student\nthree,Abe\nthree,Lea\nthree,Zed\n' >"$grades/groups.csv"
grade
works 'a first member alone has no release' release WHO=G STUDENT=Abe
# shows CHANGES WORDS MARK: regrading would make so many changes if that were Kim's mark.
shows() {
    echo "s/SLOW 7 1 false/$3/" >"$tree/changes"
    works 'a regrade does not show' regrade WHO=G WHY=w STUDENT=Kim
    says "^1 graded anew by .*: $1 marks would change, $((1 - $1)) would not"
    [ "$1" = 0 ] || says "Kim's 01-one: SLOW, 7 points -> $2"
}
shows 0 '' 'SLOW 7 1 false'
shows 1 'SLOW, 8 points' 'SLOW 8 1 false'
shows 1 'SLOW, 7 points' 'SLOW 7 2 false'
shows 1 'SLOW, 7 points' 'SLOW 7 1 true'
shows 1 'WRONG, 7 points' 'WRONG 7 1 false'
echo 's/.*/GRADER-ERROR 0 null/' >"$tree/changes"
fails 'the failure of a grader is no failure' regrade WHO=G WHY=w STUDENT=Kim
says '1 graded anew by .*: 0 marks would change, 0 would not'
: >"$tree/calls"
echo 's/SLOW 7 1 false/SLOW 8 1 false/' >"$tree/changes"
works 'what a grader has failed at is not graded again' regrade WHO=G WHY=w STUDENT=Kim APPLY=1
calls 1
row 'Kim,01-one,SLOW,1,8,'
words_of() { cat "$grades/results/$(sed -n "s/,$1\$//p" "$grades/pseudonyms.csv")/01-one${2:-}.txt"; }
holds 'the words are not those of the result' [ "$(words_of Kim)" = 'SLOW, in words' ]
# What another version, or another toolkit, has shown is not applied.
shows 0 '' 'SLOW 8 1 false'
echo 9.9.10 >"$tree/VERSION"
: >"$tree/calls"
echo 's/SLOW 7 1 false/PASS 10 2 false/' >"$tree/changes"
works 'a second regrade is not applied' regrade WHO=G WHY=w STUDENT=Kim APPLY=1
calls 1
row 'Kim,01-one,PASS,2,10,'
works 'a third one is not shown' regrade WHO=G WHY=w STUDENT=Kim
printf '#!/bin/sh\necho "Cuda compilation tools, release 99.1, V99.1.2"\n' >"$scratch/nvcc"
chmod +x "$scratch/nvcc"
echo 's/SLOW 7 1 false/PASS 10 2 true/' >"$tree/changes"
: >"$tree/calls"
NVCC=$scratch/nvcc works 'a third one is not applied' regrade WHO=G WHY=w STUDENT=Kim APPLY=1
calls 1
row 'Kim,01-one,PASS,2,10,yes,.*,9.9.10,99.1.2,'
holds 'the words are of the result before' [ "$(words_of Kim)" = 'PASS, in words' ]
holds 'and those are gone' [ "$(words_of Kim ".$(($(wc -l <"$grades/log.jsonl") - 1))")" = 'SLOW, in words' ]
holds 'a proposal is left' [ -z "$(find "$grades/results" -name '*regraded*')" ]

# An override stands, and is no change.
works 'no override' override STUDENT=Kim LESSON=1 POINTS=3 WHO=G WHY=w
echo 's/SLOW 7 1 false/PASS 10 2 true/' >"$tree/changes"
works 'a mark with an override is not shown' regrade WHO=G WHY=w STUDENT=Kim
says '1 graded anew by .*: 0 marks would change, 1 would not'

# The last member is meant alone; and the first one's released mark is no other's to lower.
echo 's/PASS 10 2/WRONG 0 null/' >"$tree/changes"
fails 'a mark that was released to the first member alone is lowered' regrade WHO=G WHY=w STUDENT=Zed APPLY=1
says "Kept: Abe's 01-one was released as PASS, 10 points"
row 'Zed,01-one,PASS,2,10,'
n=$(wc -l <"$grades/log.jsonl")
cp -r "$grades/results" "$scratch/threeresults"
# The log cannot be written: no file has changed.
(cd "$tree" && ulimit -f "$(($(wc -c <"$grades/log.jsonl") / 512))" && trap '' XFSZ &&
    "$here/build/grader/class" regrade "GRADES=$grades" WHO=G WHY=w STUDENT=Zed APPLY=1 LOWER=1) >"$said" 2>&1
holds 'a log that cannot be written is no failure' [ $? -ne 0 ]
holds "a mark is changed without its line: $(diff -rq "$grades/results" "$scratch/threeresults")" \
    [ -z "$(diff -rq -x '*regraded*' "$grades/results" "$scratch/threeresults")" ]
works 'the last member alone has no regrade' regrade WHO=G WHY=w STUDENT=Zed APPLY=1 LOWER=1
for member in Abe Lea Zed; do row "$member,01-one,WRONG,,0,"; done
lines $((n + 3))
# Killed between the lines and the files: it goes on, with the same lines.
rm -r "$grades/results"
cp -r "$scratch/threeresults" "$grades/results"
works 'what was killed is not applied' regrade WHO=G WHY=w STUDENT=Zed APPLY=1 LOWER=1
lines $((n + 3))
for member in Abe Lea Zed; do row "$member,01-one,WRONG,,0,"; done
works 'the log does not hold' log

# A folder may be called as a command is.
mkdir -p "$tree/log/Ada" "$tree/grades"
echo '// is: PASS 10 2' >"$tree/log/Ada/01-one.cu"
(cd "$tree" && "$here/build/grader/class" log grades) >"$said" 2>&1
holds 'a folder called log is not graded' grep -q '^Ada,01-one,' "$tree/grades/gradebook.csv"

# ---- Replay: lesson 1 as it is

mkdir -p "$scratch/real/Ada"
sh grader/wrong.sh grader/wrong/01-first-kernel/one-thread-a-block.edit >"$scratch/real/Ada/01-first-kernel.cu"
build/grader/class "$scratch/real" "$scratch/realgrades" >"$said" 2>&1
token=$(sed -n 's/.*,\(1:[^,]*\),[^,]*,[^,]*$/\1/p' "$scratch/realgrades/gradebook.csv")
replay() { build/grader/study replay "$@" >"$said" 2>&1; }
misses() { ! replay "$@"; }
holds "does not replay $token" replay "$token" "$scratch/real/Ada/01-first-kernel.cu"
says 'REPLAY  lesson 1: SLOW, [0-9]* points, as in the class'
holds 'the token has not the seed that was used' \
    grep -q "\"seed\": \"$(echo "$token" | cut -d: -f2)\"" build/replay/01-first-kernel.json
holds 'another file is the same' misses "$token" solutions/01-first-kernel.cu
says 'points in the class, and PASS, 10 points'
says "The file's SHA-256: [0-9a-f]* in the"
says 'name it: FILE='
holds 'a mistyped token is taken' misses "$(echo "$token" | sed 's/:h200:/:h100:/')" "$scratch/real/Ada/01-first-kernel.cu"
says 'compare it with'
holds 'no token is taken' misses 1:2:3 ''
# mend OLD NEW: the token with another part, and the check that fits it.
mend() {
    text=$(echo "${token%:*}" | sed "s/$1/$2/")
    echo "$text:$(printf %s "$text" | gzip -c | tail -c 8 | od -An -tx4 -N4 | tr -d ' ')"
}
holds 'the check is no CRC-32' [ "$(mend a a)" = "$token" ]
holds 'another version is not said' misses "$(mend ":$(cat VERSION):" :9.9.9:)" "$scratch/real/Ada/01-first-kernel.cu"
says "The grader's version: 9.9.9 in the class"
holds 'another device is no other' misses "$(mend :h200: :none:)" "$scratch/real/Ada/01-first-kernel.cu"
says 'profiles/devices/none.cfg'
holds 'a lesson that is not there is replayed' misses "$(mend ^1: 77:)" ''
says 'no lesson 77'

# What is typed to make comes as it was typed.
# shellcheck disable=SC2016
holds 'make does not pass the words on' \
    make -s comment GRADES="$scratch/realgrades" STUDENT=Ada LESSON=1 WHO="Pat O'Hara" WORDS='a "b" `c` \d $5 $(shell echo RAN) #' >"$said"
holds 'they are other words' \
    grep -qF "\"who\":\"Pat O'Hara\",\"words\":\"a \\\"b\\\" \`c\` \\\\d \$5 \$(shell echo RAN) #\"" "$scratch/realgrades/log.jsonl"

finish
