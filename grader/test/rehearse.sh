#!/bin/sh
# Tests `make rehearse`: a small class is graded, killed, begun again and compared; and what a run gets wrong or leaves is found, with
# a grader of classes that does so.
set -u
. grader/holds.sh
needs 01-first-kernel 05-transpose class sandbox
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" build/test/rehearsal' EXIT
chmod 755 "$scratch"
passed=0 failed=0
shown=$scratch/said
says() { grep -qE -- "$1" "$shown"; }

python3 -B grader/rehearsal/rehearse.py --count 7 --seed 26 --kills 2 --lesson 1 >"$shown" 2>&1
holds "a small class: ends with $?" [ $? -eq 0 ]
holds 'no rate' says '^Graded 7 submissions \(seed 26\) in [0-9]+ s: [0-9.]+ a minute\.$'
holds 'nothing of a processor' says '^Each took [0-9.]+ s of a processor: [0-9.]+ a minute on [0-9]+ idle cores\.$'
holds 'no compiler among those who worked' says '^Who worked: .*compiler [0-9]+ %'
holds 'not killed' says '^Killed [12] times: '
holds 'not compared' says '^[0-9]+ files are the same, byte for byte\.$'
holds 'something is left' says '^Nothing is left on the machine'
steps() { grep -c "step .*,01-first-kernel,$1" build/rehearsal/once/gradebook.csv; }
holds 'no version of the solution is in it' [ "$(steps '')" -gt 0 ]
holds 'a version of the solution is not right' [ "$(steps '\(PASS\|SLOW\),')" -eq "$(steps '')" ]
mv build/rehearsal/class "$scratch/first"
python3 -B -c 'import sys; sys.path.insert(0, "grader/rehearsal"); import submissions
submissions.make_class(sys.argv[1] + "/again", 7, 26, 1); submissions.make_class(sys.argv[1] + "/other", 7, 2, 1)' "$scratch"
holds 'the same seed makes another class' diff -r "$scratch/first" "$scratch/again"
holds 'another seed makes the same class' [ "$(diff -r "$scratch/first" "$scratch/other" | wc -l)" -gt 0 ]

# A tree like this one, whose grader of classes gives each submission a verdict at once, and does what $FAULT says.
tree=build/test/rehearsal
rm -rf "$tree"
mkdir -p "$tree/build/grader"
for part in lessons solutions exercises grader VERSION; do ln -s "$PWD/$part" "$tree/$part"; done
cat >"$tree/build/grader/class" <<'SH'
#!/bin/sh
mkdir -p "$2/results"
[ -f "$2/secret" ] || echo secret >"$2/secret"
number=0
ls "$1" | while read -r student; do
    number=$((number + 1)) lesson=$(ls "$1/$student" | head -n 1)
    mkdir -p "$2/results/$number"
    [ -f "$2/results/$number/x.json" ] || sleep 0.1
    echo "$student" >"$2/results/$number/x.json"
done
verdict=WRONG
case $FAULT in
verdict) ;;
*) verdict=PASS ;;
esac
{ echo student,lesson,verdict; ls "$1" | sed "s/.*step.*/&,01-first-kernel,$verdict/; t; s/\$/,05-none,MISSING/"; } >"$2/gradebook.csv"
case $FAULT in
file) : >/tmp/left-by-a-run ;;
folder) mkdir -p build/run/01-first-kernel@left.4194305 ;;
process) setsid sleep 60 & ;;
IPC) ipcmk -Q >/dev/null ;;
differs) date +%s%N >"$2/marks.csv" ;;
threads | counts | stopped)
    mkdir -p "$2/sealed/h/exercises"
    case $FAULT in threads) echo 'pthread_create(' ;; *) echo 'main(' ;; esac >"$2/sealed/h/exercises/x.cu"
    echo '{"class": {"hash": "h"}, "verdict": "'"$(case $FAULT in stopped) echo TIMEOUT ;; *) echo PASS ;; esac)"'", "polls": '"$(date +%s%N)}" >"$2/results/1/x.json"
    ;;
fails) echo 'it cannot be graded'; exit 1 ;;
esac
SH
chmod +x "$tree/build/grader/class"
rehearsed() { (cd "$tree" && FAULT=$1 python3 -B grader/rehearsal/rehearse.py --count 8 --kills "${2:-0}" --lesson 1 >"$shown" 2>&1); }
refused() { ! rehearsed "$@"; }
holds 'a run without a fault has one' rehearsed none 1
for fault in 'file file.*are left: /tmp/left-by-a-run' 'folder files are left: build/run/01-first-kernel@left.4194305' 'process a process is left: sleep' \
    'IPC IPC are left' 'verdict .*step.*: WRONG, stated is PASS' 'fails it cannot be graded'; do
    holds "${fault%% *}: it is not found" refused "${fault%% *}"
    holds "${fault%% *}: it is not told" says "${fault#* }"
done
holds 'another gradebook after a kill is not found' refused differs 1
holds 'and not told' says '^Not the same: .*marks.csv'
holds 'counts that hang on the order of the host'"'"'s threads are a fault' rehearsed threads 1
holds 'and not told' says '^1 results of programs whose hosts have threads'
holds 'counts up to when a program was stopped are a fault' rehearsed stopped 1
holds 'other counts, where the host has no threads, are not found' refused counts 1

echo "rehearse: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
