#!/bin/sh
# Tests `make attacks-gpu` and `make repeat-N` where the GPU is a fake (fake/tree.sh): which of three attacks land on the GPU alone,
# and whether a verdict that flips is seen.
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
chmod +x "$tree/bin/nvidia-smi"
cd "$tree" || exit 1
export CUDA_HOME="$tree/cuda" NVCC="$tree/cuda/bin/nvcc" GPU_ROOT="$machine" LD_LIBRARY_PATH="$machine/driver" FAKE_CASE=gpu-right \
    FAKE_EVENTS="$cases/gpu-right.events" PATH="$tree/bin:$PATH"
unset CUDA_VISIBLE_DEVICES DEVICE FAKES SEED PROFILE

# The first is right where the GPU alone looks; the second is wrong there too; the third is stated to pass.
attack() { { printf '%s\n' "$2"; cat "$cases/gpu-right.cu"; } | sed "$3" >"grader/attacks/99-fake/$1.cu"; }
attack lands '// expect: SUSPECT
// class: SUSPECT' ''
attack fails '// class: WRONG' 's/= 2 \*/= 3 */'
attack honest '// expect: PASS' ''
shown=$tree/said
sh grader/attacks.sh >"$tree/said" 2>&1
holds 'does not end well' [ $? -eq 0 ]
table=profiles/results/fake-gpu/attacks.csv
holds 'what lands at home does not' grep -qx '99-fake,lands,home,SUSPECT,PASS,yes' $table
holds 'what lands in the sandbox does not' grep -qx '99-fake,lands,class,SUSPECT,PASS,yes' $table
holds 'what is wrong lands' grep -qx '99-fake,fails,class,WRONG,WRONG,no' $table
holds 'what may pass lands' grep -qx '99-fake,honest,home,PASS,PASS,no' $table
holds 'the counts are others' grep -qx 'attacks on the GPU alone: 2 land, 2 do not, 0 not judged' "$tree/said"
sh grader/attacks.sh 0 >"$tree/said" 2>&1
holds 'ends well though there was no time' [ $? -eq 1 ]
holds 'and does not count what was not judged' grep -qx 'attacks on the GPU alone: 0 land, 0 do not, 4 not judged' "$tree/said"
FAKE_GPU=busy sh grader/attacks.sh >"$tree/said" 2>&1
holds 'a GPU that cannot be used judges' grep -qx 'attacks on the GPU alone: 0 land, 0 do not, 4 not judged' "$tree/said"

sh profiles/repeat.sh 99-fake 3 >"$tree/said" 2>&1
holds 'ends badly where no verdict flips' [ $? -eq 0 ]
holds 'does not count the verdicts' grep -qx '  3 times PASS, step , gold false' "$tree/said"
holds 'a run has no row for a target' [ "$(grep -c '^1,[123],PASS,,false,of the copy rate,0.909' profiles/results/fake-gpu/99-fake.repeats.csv)" -eq 3 ]

# A GPU that gets slower from the second run on.
cat >flip <<'FLIP'
#!/bin/sh
echo >>"$tree/runs"
[ "$(wc -l <"$tree/runs")" -gt 2 ] && FAKE_CASE=gpu-slow
exec "$tree/build/grader/real" "$@"
FLIP
mv build/grader/99-fake build/grader/real
sed "s|\$tree|$tree|g; s|exec |exec -a $tree/build/grader/99-fake |; 1s|sh|bash|" flip >build/grader/99-fake
chmod +x build/grader/99-fake
sh profiles/repeat.sh 99-fake 2 >"$tree/said" 2>&1
holds 'ends well though a verdict flips' [ $? -eq 1 ]
holds 'does not show what it flips to' grep -qx '  1 times SLOW, step , gold null' "$tree/said"
PATH=$(echo "$PATH" | cut -d: -f2-) sh profiles/repeat.sh 99-fake 2 >"$tree/said" 2>&1
holds 'ends well without a GPU' [ $? -eq 1 ]

echo "attacks-gpu: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
