#!/bin/sh
# Tests `make grade GPU=1` on a machine with two GPUs, which are fakes (fake/tree.sh): what is timed there and what is not, what its
# sandbox shows of the machine, a job to a GPU, what the gradebook tells, and what counts.
set -u
[ -x build/grader/class ] && [ -x build/grader/sandbox ] || { echo 'class-gpu: type make build/grader/class build/grader/sandbox first'; exit 1; }
trap 'rm -rf "$tree"' EXIT
. grader/test/fake/tree.sh
passed=0 failed=0
. grader/holds.sh
here=$PWD/grader/test
cases=$PWD/grader/test/verdicts
cd "$tree" || exit 1
export CUDA_HOME="$tree/cuda" NVCC="$tree/cuda/bin/nvcc" GPU_ROOT="$machine" LD_LIBRARY_PATH="$machine/driver" FAKE_GPUS=2 \
    FAKE_CASE=gpu-right FAKE_EVENTS="$cases/gpu-right.events" NO_COLOR=1
unset CUDA_VISIBLE_DEVICES DEVICE FAKES SEED PROFILE
class=$tree/class grades=$tree/grades

# Right on the simulated device; on a GPU, where FAKE_DEVICE is not set, right only if `condition` holds.
only_if() {
    printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <glob.h>\n'
    printf 'static bool look() { if (getenv("FAKE_DEVICE")) return true; %s }\nstatic bool good = look();\n' "$1"
    sed 's/out\[i\] = 2 \* in\[i\]/out[i] = good ? 2 * in[i] : 0/' "$cases/gpu-right.cu"
}
hand_in() { mkdir -p "$class/$1" && cat >"$class/$1/99-fake.cu"; }
hand_in Ada <"$cases/gpu-right.cu"
sed "s/= 2 \*/= 3 */" "$cases/gpu-right.cu" | hand_in Bob
only_if 'return false;' | hand_in Cy
only_if 'glob_t g; glob("/dev/nvidia*", 0, NULL, &g);
    if (g.gl_pathc != 3 || access("/dev/nvidiactl", F_OK) || access("/dev/nvidia-uvm", F_OK)) return false;
    return access("/sys/devices", R_OK) == 0 && access("'"$tree/exercises"'", F_OK) && access("/etc/passwd", F_OK)
        && strncmp(getenv("CUDA_VISIBLE_DEVICES"), "GPU-0", 5) == 0 && getuid() == 1000;' | hand_in Dee

grade() { build/grader/class "$@" "$class" "$grades" >"$tree/said" 2>&1; }
row() { grep -q -- "^$1" "$grades/gradebook.csv"; }
shown=$tree/said
holds 'without GPU=1 it does not end well' grade
holds 'without GPU=1 a GPU is used' row 'Ada,99-fake,PASS,,10,yes,,yes,[^,]*,,[^,]*,[^,]*,h200,'
cp -R "$grades" "$tree/simulated"

holds 'with GPU=1 it does not end well' grade --gpu 1
shown=$grades/gradebook.csv
holds 'what is right has no verdict of the GPU' row 'Ada,99-fake,PASS,,10,yes,,yes,[^,]*,,[^,]*,[^,]*,h200 and Fake GPU: PASS,'
holds 'what is wrong was on the GPU' row 'Bob,99-fake,WRONG,,0,,,yes,[^,]*,,[^,]*,[^,]*,h200,'
holds 'a verdict of the GPU changes the mark' row 'Cy,99-fake,PASS,,10,yes,,yes,[^,]*,,[^,]*,[^,]*,h200 and Fake GPU: WRONG,'
holds 'the sandbox shows other nodes than those of a GPU, or more of the machine' row 'Dee,.*,h200 and Fake GPU: PASS,'
holds 'the marks are others' cmp -s "$grades/marks.csv" "$tree/simulated/marks.csv"
result_of() { ls "$grades/results/$(sed -n "s/,$1\$//p" "$grades/pseudonyms.csv")/99-fake.json"; }
result=$(result_of Ada)
shown=
holds 'its memory was not cleared before' grep -q '"scrubbed": 50331648' "$result"
holds 'its clock is trusted' grep -q '"trusted": "no"' "$result"
holds 'what it printed is not there' grep -q 'On the Fake GPU: right, 3 of 3' "$result"
holds 'a result is not as its schema says' python3 "$here/schema.py" "$here/../result.schema.json" "$grades"/results/*/*.json
holds 'the timings are not there' grep -q '"name": "of the copy rate"' "$result"
shown=$tree/said

# Nothing is timed twice; what is graded anew is.
touch before
grade --gpu 1
holds 'is timed twice' [ -z "$(find "$grades/results" -name '*.json' -newer before)" ]
cp "$class/Ada/99-fake.cu" "$class/Bob/99-fake.cu"
grade --gpu 1
holds 'a newer file is not timed' row 'Bob,99-fake,PASS,.*,h200 and Fake GPU: PASS,'

# What counts is said in class.cfg.
echo 'gpu = "counts";' >"$grades/class.cfg"
grade
shown=$grades/gradebook.csv
holds 'does not count where it should' row 'Cy,99-fake,WRONG,,0,,'
holds 'gold of both devices is not looked at' row 'Ada,99-fake,PASS,,10,no,'
shown=$tree/said
regraded() { build/grader/class regrade "GRADES=$grades" WHO=G WHY=w >"$tree/said" 2>&1; }
! regraded
holds 'marks of a GPU are graded anew without one' grep -q 'class.cfg: gpu = "counts" has marks that a GPU has a part in' "$tree/said"
echo 'gpu = "never";' >"$grades/class.cfg"
shown=$tree/said
! grade
holds 'a word that is none is taken' grep -q 'class.cfg:1: gpu should be "told" or "counts", not "never"' "$tree/said"
rm "$grades/class.cfg"

# A job to a GPU: one that is another's is left alone.
anew() { rm -rf "$grades" && cp -R "$tree/simulated" "$grades"; }
uuids() { grep -ho '"uuid": "GPU-..' "$grades"/results/*/99-fake.json | sort | uniq -c | tr -s ' \n' ' '; }
anew
exec 9<"$machine/dev/nvidia0"
flock 9
grade --gpu 1
holds "a GPU that is another's is used: $(uuids)" [ "$(uuids)" = ' 4 "uuid": "GPU-01 ' ]
anew
CUDA_VISIBLE_DEVICES=0 build/grader/class --gpu 1 "$class" "$grades" >"$tree/said" 2>&1 9<&- &
grading=$!
for _ in $(seq 100); do ! grep -q 'waits for it' "$tree/said" || break; sleep 0.1; done
holds 'does not say that it waits' grep -q 'dev/nvidia0: another run has this GPU; this one waits for it' "$tree/said"
exec 9<&-
wait "$grading"
holds "does not go on once it has the GPU: $(uuids)" [ "$(uuids)" = ' 4 "uuid": "GPU-00 ' ]

# Killed at any moment, it goes on where it was.
cp "$grades/gradebook.csv" whole.csv
for seconds in 0.5 2; do
    anew
    build/grader/class --gpu 1 "$class" "$grades" >/dev/null 2>&1 &
    sleep "$seconds"
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    grade --gpu 1
    holds "killed after $seconds s: another gradebook" cmp -s "$grades/gradebook.csv" whole.csv
done

# A lesson about several devices, which its result says, gets two GPUs, and nothing else gets one of these meanwhile.
only_if 'return strchr(getenv("CUDA_VISIBLE_DEVICES"), 44);' | hand_in Eve
hand_in Flo <"$cases/gpu-right.cu"
anew
grade
sed -i 's/"compulsory_link": 0/"compulsory_link": 64/' "$(result_of Eve)"
grade --gpu 1
holds 'two jobs at once want a GPU' [ -z "$(grep 'another run' "$tree/said")" ]
shown=$grades/gradebook.csv
holds 'a lesson about several devices gets one GPU' row 'Eve,99-fake,PASS,.*,h200 and Fake GPU: PASS,'
holds 'another lesson is not graded beside it' row 'Flo,99-fake,PASS,.*,h200 and Fake GPU: PASS,'
shown=$tree/said

# No GPU, and a part of one.
anew
holds 'without a GPU it ends well' [ "$(LD_LIBRARY_PATH= build/grader/class --gpu 1 "$class" "$grades" >"$tree/said" 2>&1; echo $?)" -eq 1 ]
holds 'and does not say so' grep -q 'There is no GPU here that its driver can use, so nothing was timed' "$tree/said"
holds 'and writes no gradebook' row 'Ada,99-fake,PASS,,10,'

# A ratio whose range has the bound in it is measured once more, and no more often; one that is clear is not.
tries() {
    FAKE_CASE=$1 build/grader/99-fake --result tries.json "$class/Ada/99-fake.cu" >"$tree/said" 2>&1
    grep -o '"tries": [0-9]*' tries.json | sort | uniq -c | tr -s ' \n' ' '
}
tries_twice() { tries gpu-close | grep -q ' 1 "tries": 2 '; }
holds "a clear ratio is measured again: $(tries gpu-right)" [ "$(tries gpu-right)" = ' 3 "tries": 1 ' ]
holds "one that is too close is not: $(tries gpu-close)" tries_twice

# Calls of a second are timed by themselves, not by a difference, and six turns are enough.
turns() {
    FAKE_CASE=$1 build/grader/99-fake --result turns.json "$class/Ada/99-fake.cu" >"$tree/said" 2>&1
    python3 -c 'import json; print(*{len(m["ratios"]) for r in json.load(open("turns.json"))["gpu"]["records"] for m in r.get("measured", {}).values()})'
}
holds "turns of short calls: $(turns gpu-right)" [ "$(turns gpu-right)" = 15 ]
holds "turns of calls of a second: $(turns gpu-long-calls)" [ "$(turns gpu-long-calls)" = 6 ]
holds 'calls of a second are not a second' grep -q '1e+06 µs a call' "$tree/said"

# The result that is handed to a grader is of its lesson.
echo '{"lesson": "01-first-kernel", "checks": []}' >other.json
build/grader/99-fake --simulated other.json "$class/Ada/99-fake.cu" >"$tree/said" 2>&1
holds 'takes the result of another lesson' grep -q '^GRADER-ERROR' "$tree/said"

echo "class-gpu: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
