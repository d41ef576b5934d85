#!/bin/sh
# Tests the marks of a class: roster, groups, manifest and class.cfg, what they make of two lessons' submissions, and that a
# mistake in one of them is told with its file and line before anything is graded.
set -u
. grader/test/class/begin.sh
needs 01-first-kernel 02-managed-memory class

one=01-first-kernel
mkdir -p "$class/ada" "$class/pair" "$class/Eve" "$class/Hal" "$class/second" "$grades"
cp exercises/$one.cu "$class/ada"
cp solutions/$one.cu "$class/second/later.cu"
cp solutions/$one.cu "$class/pair"
cp solutions/$one.cu "$class/Eve"
cp exercises/$one.cu "$class/Hal"
cp solutions/$one.cu "$class/ada/09-scan.cu"
cat >"$grades/roster.csv" <<'CSV'
id,student,submission,email
1,"Lovelace, Ada",ada,ada@example.org
2,Bob,,bob@example.org
3,Zoë,,
4,Dora,,
5,=Fay,fay,
6,Hal,,
7,Ivy,,
CSV
printf 'group,student\npair,Bob\npair,Zoë\ntwo,Hal\ntwo,Ivy\n' >"$grades/groups.csv"
cat >"$class/manifest.csv" <<CSV
student,lesson,file,time
"Lovelace, Ada",$one,ada/$one.cu,2026-10-05T21:00:00Z
"Lovelace, Ada",$one,second/later.cu,2026-10-08T22:00:00.5+02:00
pair,,pair,2026-10-06 21:30:00Z
CSV
rules() {
    cat >"$grades/class.cfg" <<CFG
$1
late = { budget = 1; penalty = 20; };
lessons = ( { name = "$one"; deadline = "2026-10-05T23:59:00+02:00"; weight = 3; },
            { name = "02-managed-memory"; $2 } );
students = ( { name = "Zoë"; budget = 0; excused = ( "02-managed-memory" ); $3 } );
CFG
}
grade() { build/grader/class "$class" "$grades" >"$scratch/said" 2>&1; }
row() { grep -q -- "^$1" "$grades/gradebook.csv"; }
mark() { grep -q -- "^$1\$" "$grades/marks.csv"; }

rules '' '' ''
script -qec "build/grader/class '$class' '$grades'" "$scratch/said" >/dev/null </dev/null # on a terminal, with its progress
holds 'ends with an error' grep -q '^7 submissions of 8 students' "$scratch/said"
holds 'a group is graded twice, or a lesson that does not count' grep -q '4 of 4 graded' "$scratch/said"
holds 'the best of two is not the later one, 3 days late' row "\"Lovelace, Ada\",$one,PASS,2,6,,3,yes,"
holds 'what a group hands in is not for each member' row "Bob,$one,PASS,2,10,,1,yes,"
holds 'what one member hands in is not the others'"'"'' row "Ivy,$one,TODO,,0,,,yes,[0-9a-f]"
holds 'a late day is not paid by the member without a budget' row "Zoë,$one,PASS,2,8,,1,yes,"
holds 'a student of the roster who handed in nothing has no row' row "Dora,$one,MISSING,,0,,,no,,,"
holds 'a name can be a formula' row "\"'=Fay\",$one,MISSING,"
holds 'one who is not in the roster is graded' row "Eve,$one,REFUSED,,0,,,no,,\"*no student in roster.csv has this name"
holds 'an excused lesson is not EXCUSED' row 'Zoë,02-managed-memory,EXCUSED,,,,,no,,,'
holds 'a lesson that does not count is graded' [ ! -e "$(find "$grades/results" -name '09-scan*' | head -n 1)" ]
holds 'and is passed over in silence' grep -q "Not graded, since class.cfg does not list the lesson: Lovelace, Ada's 09-scan" "$scratch/said"
holds 'the members of a group have results of their own' [ "$(find "$grades/results" -name "$one.json" | wc -l)" -eq 3 ]
holds 'a total is not that of the weights' mark '"Lovelace, Ada",45,1,6,0'
holds 'an excused lesson is a zero' mark 'Zoë,80,0,8,'
holds 'a missing lesson is no zero' mark 'Dora,0,0,0,0'
holds "lines of marks: $(wc -l <"$grades/marks.csv")" [ "$(wc -l <"$grades/marks.csv")" -eq 9 ]
holds 'a file whose folder the manifest names is a student' [ "$(cut -d, -f1 "$grades/marks.csv" | grep -c second)" -eq 0 ]

# Other rules work out the marks anew, and grade nothing.
touch "$scratch/then"
rules 'counts = "latest";' '' 'extensions = ( { days = 1; } );'
holds 'ends with an error' grade
holds 'the latest does not count' row "\"Lovelace, Ada\",$one,PASS,2,6,,3,yes,"
holds 'an extension is not kept' row "Zoë,$one,PASS,2,10,,0,yes,"
rules '' 'points = ( 6, 8, 10 ); gold = 1;' ''
sed -i 's/weight = 3;/points = ( 1, 2, 4 ); weight = 3;/; s/penalty = 20/most = 2/' "$grades/class.cfg"
holds 'ends with an error' grade
holds 'what is too late counts' row "\"Lovelace, Ada\",$one,TODO,,0,,0,yes,"
holds 'points are not those of class.cfg' row "Bob,$one,PASS,2,4,"
holds 'another rule grades again' [ -z "$(find "$grades/results" -name '*.json' -newer "$scratch/then")" ]

# Gradescope's folders, whose metadata has the time; what a student puts beside it is not read.
mkdir -p "$scratch/gradescope/Dora/submission" "$scratch/gradescope/Bob/submission" "$scratch/scope"
cp solutions/$one.cu "$scratch/gradescope/Dora/submission"
cp solutions/$one.cu "$scratch/gradescope/Bob/submission"
cp exercises/$one.cu "$scratch/gradescope/Dora" # not the student's
echo '{"created_at": "2026-10-06T15:00:00.123456-07:00"}' >"$scratch/gradescope/Dora/submission_metadata.json"
echo '{"created_at": "2000-01-01T00:00:00Z"}' >"$scratch/gradescope/Bob/submission/submission_metadata.json"
printf 'times = "gradescope";\nlessons = ( { name = "%s"; deadline = "2026-10-05T21:59:00Z"; } );\n' $one >"$scratch/scope/class.cfg"
build/grader/class "$scratch/gradescope" "$scratch/scope" >"$scratch/said" 2>&1
grades=$scratch/scope
holds 'the time is not that of the metadata' row "Dora,$one,PASS,2,10,,2,yes,"
holds 'a time that the student wrote is believed' row "Bob,$one,REFUSED,.*submission_metadata.json is missing"

# The budget is spent in the order of the deadlines: two days on lesson 2, and none is left for lesson 1.
mkdir -p "$scratch/two/Ada" "$scratch/order"
cp solutions/$one.cu solutions/02-managed-memory.cu "$scratch/two/Ada"
cat >"$scratch/two/manifest.csv" <<CSV
student,file,time
Ada,Ada/$one.cu,2026-10-13T12:00Z
Ada,Ada/02-managed-memory.cu,2026-10-07T12:00Z
CSV
cat >"$scratch/order/class.cfg" <<CFG
late = { budget = 2; penalty = 10; };
lessons = ( { name = "$one"; deadline = "2026-10-13T00:00Z"; }, { name = "02-managed-memory"; deadline = "2026-10-06T00:00Z"; } );
CFG
build/grader/class "$scratch/two" "$scratch/order" >"$scratch/said" 2>&1
grades=$scratch/order
holds "the budget is spent in another order: $(cat "$grades/marks.csv")" mark 'Ada,95,2,9,10'

# What a row of the manifest with a lesson takes: that lesson. Empty files are graded soonest.
two=02-managed-memory class=$scratch/rows grades=$scratch/rowgrades
mkdir -p "$class/Ben" "$class/Dan/old" "$scratch/empties" "$grades"
: >"$scratch/empties/$one.cu"
: >"$scratch/empties/$two.cu"
cp "$scratch/empties"/*.cu "$class/Ben"
cp "$scratch/empties"/*.cu "$class/Dan"
cp "$scratch/empties/$two.cu" "$class/Dan/old"
for name in Ada Abe; do tar -C "$scratch/empties" -czf "$class/$name.tar.gz" .; done
tar -C "$scratch/empties" -czf "$class/Cy.tar.gz" $one.cu
printf 'lessons = ( { name = "%s"; deadline = "2026-10-05T00:00Z"; }, { name = "%s"; deadline = "2026-10-05T00:00Z"; } );\n' \
    $one $two >"$grades/class.cfg"
cat >"$class/manifest.csv" <<CSV
student,lesson,file,time
Ada,$two,Ada.tar.gz,2026-10-06T00:00Z
Abe,$two,Abe.tar.gz,2026-10-06T00:00Z
Abe,$one,Abe.tar.gz,2026-10-04T00:00Z
Ben,,Ben,2026-10-04T00:00Z
Ben,$two,Ben/$two.cu,2026-10-07T00:00Z
Cy,$two,Cy.tar.gz,2026-10-04T00:00Z
Dan,$two,Dan,2026-10-04T00:00Z
Dan,$two,Dan/old/$two.cu,2026-10-03T00:00Z
CSV
holds 'a class with such a manifest is not graded' grade
cp "$scratch/said" "$scratch/rows-said"
row_of() { holds "no row $1: $(grep "^${1%%,*}" "$grades/gradebook.csv")" row "$1"; }
row_of "Ada,$one,MISSING,"
row_of "Ada,$two,BUILD,,0,,1,"
row_of "Abe,$one,BUILD,,0,,0,"
row_of "Abe,$two,BUILD,,0,,1,"
row_of "Ben,$one,BUILD,,0,,0,"
row_of "Ben,$two,BUILD,,0,,2,"
row_of "Cy,$one,MISSING,"
row_of "Cy,$two,REFUSED,.*manifest.csv says that it is in Cy.tar.gz, and it is not"
row_of "Dan,$one,MISSING,"
for name in Ada Cy; do
    holds "$name's other lesson is passed over in silence" grep -qF \
        "Not graded, since manifest.csv has rows for other lessons of $name.tar.gz, and none for this one: $name's $one" "$scratch/rows-said"
done
holds 'what no row takes is not told once, by name' [ "$(grep -c '^Not graded, since manifest.csv' "$scratch/rows-said")" -eq 3 ]
holds "a file with a row of its own counts twice" [ "$(find "$grades/results" -name '*-2.json' | wc -l)" -eq 1 ]

# Mistakes. amiss FILE LINE WORDS: grading ends with that, and has not begun.
mkdir -p "$scratch/few/Ada" "$scratch/bad"
grades=$scratch/bad
cp solutions/$one.cu "$scratch/few/Ada"
amiss() {
    ! build/grader/class "$scratch/few" "$grades" >"$scratch/said" 2>&1 && grep -q -- "$1:$2: .*$3" "$scratch/said" &&
        [ -z "$(find "$grades/results" -name '*.json')" ]
}
# wrong FILE LINE WORDS CONTENT: that content, as printf has it.
wrong() {
    case $1 in manifest.csv) to=$scratch/few/$1 ;; *) to=$grades/$1 ;; esac
    # shellcheck disable=SC2059
    printf "$4" >"$to"
    holds "$1: not told '$3'" amiss "$1" "$2" "$3"
    rm "$to"
}
wrong roster.csv 1 'no column is called `student`' 'name\nAda\n'
wrong roster.csv 4 "'Ada' stands twice" 'student\nAda\nBob\nAda\n'
wrong roster.csv 2 'a row of 3 cells' 'student,id\nLovelace, Ada,1\n'
wrong roster.csv 3 'a quotation mark without its end' 'student\nAda\n"Bob\n'
wrong groups.csv 3 "in the group 'a' already" 'group,student\na,Ada\nb,Ada\n'
wrong manifest.csv 2 'a path below' 'student,file\nAda,../x\n'
wrong manifest.csv 2 'there is no .*/few/Ada/2.cu' 'student,file\nAda,Ada/2.cu\n'
wrong manifest.csv 2 'no time with a zone' 'student,file,time\nAda,Ada,2026-10-05 23:59\n'
wrong manifest.csv 2 "'5' is no lesson" 'student,file,lesson\nAda,Ada,5\n'
wrong manifest.csv 3 'Ada has a row already, in line 2' 'student,file\nAda,Ada\nAda,Ada\n'
wrong manifest.csv 3 'Ada has a row already, in line 2' "student,lesson,file\nAda,$one,Ada\nAda,,Ada\n"
wrong manifest.csv 4 'Ada has a row already, in line 2' "student,lesson,file\nAda,$one,Ada\nAda,05-transpose,Ada\nAda,$one,Ada\n"
wrong manifest.csv 3 'write the group into groups.csv' "student,lesson,file\nAda,$one,Ada/$one.cu\nBob,05-transpose,Ada/$one.cu\n"
wrong class.cfg 2 "late has no 'budgets'. It can have: budget penalty most" 'late = {\n  budgets = 5;\n};\n'
wrong class.cfg 3 'syntax error' 'late = {\n  budget = 5\n  penalty 3;\n};\n'
wrong class.cfg 2 'should be "best" or "latest"' '\ncounts = "first";\n'
wrong class.cfg 2 "'05-transpos' is no lesson" 'lessons = (\n { name = "05-transpos"; } );\n'
wrong class.cfg 2 "'5 Oct' is no time" 'lessons = (\n { name = "05-transpose"; deadline = "5 Oct"; } );\n'
wrong class.cfg 2 'a list of 4 numbers' 'lessons = (\n { name = "05-transpose"; points = ( 5, 10 ); } );\n'
wrong class.cfg 2 'should not fall' 'lessons = (\n { name = "05-transpose"; points = ( 5, 4, 3, 2 ); } );\n'
wrong class.cfg 2 "'Adam' is no student" 'students = (\n { name = "Adam"; } );\n'
wrong class.cfg 2 'needs its days' 'students = (\n { name = "Ada"; extensions = ( { lesson = "05-transpose"; } ); } );\n'

# The example is one: with its students, it is read.
mkdir "$scratch/example" "$scratch/empty"
cp grader/class/example.cfg "$scratch/example/class.cfg"
printf 'student\nAda Lovelace\nGrace Hopper\nZoë\n' >"$scratch/example/roster.csv"
build/grader/class "$scratch/empty" "$scratch/example" >"$scratch/said" 2>&1
status=$?
holds "the example cannot be read: $(cat "$scratch/said")" [ $status -eq 0 ]
holds 'its lessons are not graded' [ "$(wc -l <"$scratch/example/gradebook.csv")" -eq 10 ]
holds 'its students are granted nothing' grep -q '^Grace Hopper,05-transpose,EXCUSED' "$scratch/example/gradebook.csv"

finish
