#!/bin/sh
# Tests `make attacks-gpu` and `make repeat-N` where the GPU is a fake (fake/tree.sh): which attacks land on the GPU alone, and
# whether a verdict that flips is seen; and that both go on where they were.
set -u
[ -x build/grader/sandbox ] || { echo 'attacks-gpu: type make build/grader/sandbox first'; exit 1; }
trap 'rm -rf "$tree"' EXIT
. grader/test/fake/tree.sh
passed=0 failed=0
. grader/holds.sh
cases=$PWD/grader/test/verdicts
mkdir -p "$tree/solutions" "$tree/grader/attacks/99-fake" "$tree/bin"
cp solutions/*.awk "$tree/solutions/"
cp "$cases/gpu-right.cu" "$tree/solutions/99-fake.cu"
cp grader/attacks.sh grader/wrong.sh "$tree/grader/"
cp profiles/repeat.sh "$tree/profiles/"
printf '#!/bin/sh\necho "Fake GPU"\n' >"$tree/bin/nvidia-smi"
# Says whether others use the GPU meanwhile, ends the first that comes while there is a file `late`, and lets go of a GPU that is busy
# at first.
cat >"$tree/bin/timeout" <<EOF
#!/bin/sh
shift 3
echo "\${PWD##*/}\${GPU_SHARED:+ beside others}" >>"$tree/graded"
! rm "$tree/late" 2>/dev/null || exit 124
"\$@"
status=\$?
: >seen
exit \$status
EOF
chmod +x "$tree/bin/nvidia-smi" "$tree/bin/timeout"
cd "$tree" || exit 1
export CUDA_HOME="$tree/cuda" NVCC="$tree/cuda/bin/nvcc" GPU_ROOT="$machine" LD_LIBRARY_PATH="$machine/driver" FAKE_CASE=gpu-right \
    FAKE_EVENTS="$cases/gpu-right.events" PATH="$tree/bin:$PATH"
unset CUDA_VISIBLE_DEVICES DEVICE FAKES SEED PROFILE

# The first two are right where the GPU alone looks, the next two are wrong there too, and the last two have nothing to land with.
attack() { { printf '%s\n' "$2"; cat "$cases/gpu-right.cu"; } | sed "$3" >"grader/attacks/99-fake/$1.cu"; }
attack lands '// expect: SUSPECT' ''
attack lands-too '// expect: WRONG
// class: SUSPECT' ''
attack fails '// class: WRONG' 's/= 2 \*/= 3 */'
attack alone '// class: WRONG
// alone: yes' 's/= 2 \*/= 3 */'
attack honest '// expect: PASS' ''
attack refused '// class: BUILD' ''
shown=$tree/said table=profiles/results/fake-gpu/attacks.csv
attacks() { sh grader/attacks.sh "$@" >"$tree/said" 2>&1; }
counts() { holds "other counts than $1" grep -qx "attacks on the GPU alone: $1" "$tree/said"; }
# The GPU is another's when an attack is graded first.
FAKE_GPU=busy-at-first attacks 99-fake/lands
counts '1 land, 0 do not, 0 not judged'
rm $table
: >late
attacks 99-fake/lands
counts '1 land, 0 do not, 0 not judged'
holds "is graded as if others used the GPU, or not once more: $(cat graded)" [ "$(tail -n 2 graded | tr '\n' ,)" = 'lands beside others,lands,' ]
rm $table
FAKE_GPU=busy attacks
holds 'ends well where the GPU cannot be used' [ $? -eq 1 ]
counts '0 land, 0 do not, 4 not judged'
holds 'has a row for what was not judged' [ "$(wc -l <$table)" -eq 1 ]
attacks 99-fake/lands
counts '1 land, 0 do not, 0 not judged'
touch before
holds 'does not end well' attacks
counts '2 land, 2 do not, 0 not judged'
holds 'does not come by itself, after the others' [ "$(grep '^99-fake,' "$tree/said" | tail -n 1)" = 99-fake,alone,class,WRONG,WRONG,no ]
holds 'is judged twice' [ -z "$(find build/attacks/99-fake/lands -name words.txt -newer before)" ]
holds 'does not say what it judges' grep -qx '99-fake,lands-too,class,SUSPECT,PASS,yes' "$tree/said"
holds 'the rows are others' [ "$(tr '\n' ' ' <$table)" = 'lesson,attack,form,stated,gpu,lands 99-fake,alone,class,WRONG,WRONG,no 99-fake,fails,class,WRONG,WRONG,no 99-fake,lands,home,SUSPECT,PASS,yes 99-fake,lands-too,class,SUSPECT,PASS,yes ' ]

again() { sh profiles/repeat.sh 99-fake "$@" >"$tree/said" 2>&1; }
table=profiles/results/fake-gpu/99-fake.repeats.csv
holds 'ends badly where no verdict flips' again 2
holds 'does not go on' again 3
holds 'does not count the verdicts' grep -qx '  3 times PASS, step , gold false' "$tree/said"
holds "a time has no row for a target: $(cat $table)" [ "$(grep -c '^1,[123],PASS,,false,0.909.*,"of the copy rate"$' $table)" -eq 3 ]
holds 'times once more what is there' again 3
holds 'has more rows' [ "$(cut -d, -f2 $table | sort -u | tr '\n' ' ')" = '1 2 3 time ' ]
FAKE_CASE=gpu-tires build/grader/99-fake --times 4 --result times.json solutions/99-fake.cu >"$tree/said" 2>&1
holds 'a time has not its own ratio, and each is slower' [ "$(grep '^time,.*"of the copy rate"' "$tree/said" | awk -F, '$2 == n + 1 && (!n || $6 < ratio - 0.001) { n++; ratio = $6 } END { print n }')" -eq 4 ]
last=$(python3 -c 'import json; print("%.6g" % next(t["ratio"] for t in json.load(open("times.json"))["gpu"]["timings"] if t["name"] == "of the copy rate"))')
holds "its last time is not the one that counts, but $last" grep -q "^time,4,.*,$last,.*\"of the copy rate\"" "$tree/said"
holds 'a result with times is not as its schema says' python3 "$cases/../schema.py" "$cases/../../result.schema.json" times.json
FAKE_CASE=gpu-slow again 4
holds 'ends well though a verdict flips' [ $? -eq 1 ]
holds 'does not show what it flips to' grep -qx '  1 times SLOW, step , gold ' "$tree/said"
FAKE_GPU=busy again 5
holds 'ends well though one is missing' [ $? -eq 1 ]
PATH=$(echo "$PATH" | cut -d: -f2-) again 2
holds 'ends well without a GPU' [ $? -eq 1 ]

echo "attacks-gpu: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
