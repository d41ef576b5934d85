#!/bin/sh
# Every verdict from end to end, word for word: each verdicts/NAME.cu is graded on a fake device,
# which reports the lines of NAME.events if there are any, and must print NAME.expected. No process
# may be left. Then once more on a terminal of 60 columns, which must say the same words in its
# colours and within its width. The cases gpu-* have a fake GPU too, with a fake clock. The user may have the second
# of the machine's GPUs alone, and lets launches wait. CASES="gpu-*" runs some of them.
set -u
# The grader lets no other process of its user look into it: here root may, also root of a namespace alone.
[ "$(id -u)" = 0 ] || exec unshare -r sh "$0" "$@"
export CUDA_VISIBLE_DEVICES=1 CUDA_LAUNCH_BLOCKING=1
here=grader/test
root=build/test/verdicts.$$
trap 'rm -rf "$tree"' EXIT
tree=$PWD/$root
mkdir -p "$root/build/grader" "$root/grader/lessons" "$root/profiles/lessons" "$root/exercises" \
    "$root/simulator" "$root/driver" "$root/cuda"
ln -s ../simulator "$root/cuda/lib64"

cp $here/fake/99-fake.h "$root/grader/lessons/"
cp $here/fake/copy.peer.cu "$root/grader/"
cp $here/fake/99-fake.peer.cu "$root/grader/lessons/"
cp $here/fake/99-fake.cfg "$root/profiles/lessons/"
cp $here/verdicts/*.cu "$root/exercises/"
gcc -std=gnu17 -O1 -o "$root/simulator/run" $here/fake/device.c &&
gcc -std=gnu17 -O1 -isystem "${CUDA_HOME:-/usr/local/cuda}/include" -shared -fPIC -Wl,-soname,libcuda.so.1 \
    -o "$root/driver/libcuda.so.1" $here/fake/cuda.c &&
gcc -std=gnu17 -O1 -shared -fPIC -Wl,-soname,libcudart.so.13 \
    -o "$root/simulator/libcudart.so.13" $here/fake/cudart.c &&
gcc -std=gnu17 -O1 -isystem "${CUDA_HOME:-/usr/local/cuda}/include" \
    -c -o "$root/worker.o" grader/worker.c &&
ld -r -T grader/worker.ld -o "$root/build/grader/worker.o" "$root/worker.o" &&
gcc -std=gnu17 -O1 -Igrader -isystem "${CUDA_HOME:-/usr/local/cuda}/include" -o "$root/build/grader/99-fake" $here/fake/99-fake.c \
    $here/fake/stopwatch.c $(ls grader/*.c | grep -v -e worker.c -e stopwatch.c) -lcriterion -ljansson -lconfig -lpng -lz -lm || exit 1

passed=0 failed=0
. grader/holds.sh
cases=$PWD/$here/verdicts
nvcc=$PWD/$here/fake/nvcc
record=$PWD/profiles/record.sh
schema=$PWD/grader/result.schema.json
keeps="python3 $PWD/$here/schema.py"
verdicts=$(sed -n 's/^ *X([A-Z_]*, "\([A-Z-]*\)").*/\1/p' grader/verdict.h)
cd "$tree" || exit 1

# The words alone: no colours, no line breaks, and not the commas of a table that is set narrow.
words() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | tr -d '\r,:' | tr -s ' \n' '  '
}

# A line may be too long only if it is one word, or the program's own.
too_long() {
    sed 's/\x1b\[[0-9;]*m//g; s/µ/u/g' "$1" | tr -d '\r' | awk 'length($0) > 60 && NF > 1 && !/^\|/'
}

narrow() {
    env -u COLUMNS -u NO_COLOR -u CLICOLOR_FORCE -u DEVICE TERM=xterm LC_ALL=C NVCC="$nvcc" \
        FAKES="$PWD/simulator" "$device" CUDA_HOME="$PWD/cuda" FAKE_EVENTS="$events" FAKE_CASE="$name" FAKE_TREE="$tree" SEED= PROFILE= \
        script -qec "stty cols 60; build/grader/99-fake --result $name.json exercises/$name.cu 2>/dev/null" \
        /dev/null >"$name.narrow" </dev/null 2>&1
    echo "exit status $?" >>"$name.narrow"
    words "$name.narrow" >"$name.narrow.words"
    words "$name.out" >"$name.words"
    cmp -s "$name.words" "$name.narrow.words" && [ -z "$(too_long "$name.narrow")" ] &&
        grep -q "$(printf '\033')" "$name.narrow"
}

# Is a process of this tree still there? One that is being killed may take a moment to be gone.
left_behind() {
    for moment in 1 2 3 4 5 6 7 8 9 10; do
        grep -lzqx "FAKE_TREE=$tree" /proc/[0-9]*/environ 2>/dev/null || return 1
        sleep 0.1
    done
}

for source in "$cases"/${CASES:-*}.cu; do
    name=$(basename "$source" .cu)
    events=
    [ -f "$cases/$name.events" ] && events=$cases/$name.events
    device=DEVICE=$PWD/simulator/run
    case $name in gpu-*) device=LD_LIBRARY_PATH=$PWD/driver ;; esac
    export FAKE_GPU=
    case $name in gpu-own-memory) FAKE_GPU=exports-nothing ;; gpu-busy) FAKE_GPU=busy ;; esac
    link=-lm
    case $name in gpu-peer-missing) link=-lnowhere ;; esac
    sed -i "1s/-l.*/$link/" grader/lessons/99-fake.peer.cu
    env -u DEVICE NVCC="$nvcc" FAKES="$PWD/simulator" "$device" CUDA_HOME="$PWD/cuda" FAKE_EVENTS="$events" \
        FAKE_CASE="$name" FAKE_TREE="$tree" NO_COLOR=1 COLUMNS= TERM=dumb SEED= PROFILE= LC_ALL=C \
        build/grader/99-fake --result "$name.json" "exercises/$name.cu" \
        >"$name.out" 2>"$name.err" </dev/null
    echo "exit status $?" >>"$name.out"
    if ! cmp -s "$name.out" "$cases/$name.expected"; then
        echo "$name: not the words expected"
        diff "$cases/$name.expected" "$name.out" | sed 's/^/    /'
        failed=$((failed + 1))
    elif ! grep -q -e '^exit status 0' -e '^  Next: ' "$name.out"; then
        echo "$name: fails, and does not say what to do next"
        failed=$((failed + 1))
    elif left_behind; then
        echo "$name: a process is left behind"
        failed=$((failed + 1))
    elif [ ! -s "$name.json" ] || ls -d build/run/99-fake@* >/dev/null 2>&1; then
        echo "$name: no result, or the run's folder is left behind"
        failed=$((failed + 1))
    elif ! sed -n 's/^  Picture: //p' "$name.out" | while read -r picture; do [ -s "$picture" ] || exit 1; done; then
        echo "$name: no picture where it says"
        failed=$((failed + 1))
    elif [ "$name" = build ] && { ! grep -q 'a fake PASS' "$name.err" || grep -q "$(printf '\033')" "$name.err"; }; then
        echo "$name: the compiler's words are not told, or not cleaned"
        failed=$((failed + 1))
    elif ! narrow; then
        echo "$name: other words on a terminal of 60 columns, lines too long, or no colours"
        cat "$name.narrow"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
done

# One of the processes of a run, whose grader is $2; the runner is Criterion's, and the owner that of a GPU's memory.
one_of() {
    for environ in $(grep -lzx "FAKE_TREE=$tree" /proc/[0-9]*/environ 2>/dev/null); do
        pid=${environ#/proc/} pid=${pid%/environ}
        parent=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status" 2>/dev/null)
        case $1:$(cat "/proc/$pid/comm" 2>/dev/null) in
        grader:99-fake) [ "$pid" = "$2" ] || continue ;;
        runner:99-fake) [ "$parent" = "$2" ] || continue ;;
        check:99-fake) [ "$pid" != "$2" ] && [ "$parent" != "$2" ] || continue ;;
        owner:99-fake)
            [ "$pid" != "$2" ] && [ "$parent" != "$2" ] || continue
            [ "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$parent/status" 2>/dev/null)" != "$2" ] || continue ;;
        device:run) ;;
        worker:worker) ;;
        *) continue ;;
        esac
        echo "$pid"
        return
    done
    return 1
}

# Becomes a run of exercises/FILE on the device that $device says.
become_run() {
    exec env -u DEVICE NVCC="$nvcc" FAKES="$PWD/simulator" "$device" CUDA_HOME="$PWD/cuda" FAKE_CASE= \
        FAKE_EVENTS="$cases/right.events" FAKE_TREE="$tree" NO_COLOR=1 SEED= PROFILE= LC_ALL=C \
        build/grader/99-fake "exercises/$1" >killed.out 2>&1 </dev/null
}

# A run, one of whose processes is killed so many seconds after it was seen. False: it was gone by then.
run_and_kill() {
    device=DEVICE=$PWD/simulator/run submission=takes-its-time.cu
    case $1 in owner) device=LD_LIBRARY_PATH=$PWD/driver submission=takes-its-time-on-a-gpu.cu ;; esac
    become_run $submission &
    grader=$!
    for moment in $(seq 400); do victim=$(one_of "$1" $grader) && break; sleep 0.05; done
    sleep "$2"
    hit=no
    grep -q '^State:.[^ZX]' "/proc/$victim/status" 2>/dev/null && kill -9 "$victim" 2>/dev/null && hit=yes
    for moment in $(seq 300); do kill -0 $grader 2>/dev/null || break; sleep 0.1; done
    kill -0 $grader 2>/dev/null && { ended=no; kill -9 $grader; } || ended=yes
    wait $grader 2>/dev/null
    status=$?
    rm -rf build/run
    [ $hit = yes ]
}

# killed WHO SECONDS: the run ends, does not pass, and leaves no process behind.
killed() {
    for attempt in 1 2 3 4 5; do run_and_kill "$1" "$2" && break; done
    if [ $hit$ended = yesyes ] && [ $status -ne 0 ] && ! grep -q ^PASS killed.out && ! left_behind; then
        passed=$((passed + 1))
    else
        echo "the $1 is killed after $2 s (hit: $hit): ended: $ended, exit status $status"
        cat killed.out
        failed=$((failed + 1))
    fi
}
# It takes its time on the device that the process to be killed belongs to.
slowly() {
    echo '#include <stdlib.h>'
    echo '#include <unistd.h>'
    sed "s/^[vi].*) {/& if (${1:-}getenv(\"FAKE_DEVICE\")) usleep(800000);/; s/^{\$/& if (${1:-}getenv(\"FAKE_DEVICE\")) usleep(800000);/" exercises/right.cu
}
slowly >exercises/takes-its-time.cu
slowly ! >exercises/takes-its-time-on-a-gpu.cu
for who in grader runner check device worker owner; do
    for seconds in 0 0.1 0.2; do killed $who $seconds; done
done

# What a killed run has left in /dev/shm is gone with the next one, and nothing else is: not what is shared by a process that there is,
# nor what is another user's. Criterion shares memory with a check only while it starts it.
device=DEVICE=$PWD/simulator/run
for attempt in $(seq 20); do
    become_run right.cu &
    grader=$! shared=
    while [ -z "$shared" ] && kill -0 $grader 2>/dev/null; do
        for path in /dev/shm/bxfi_[1-9]*; do [ -e "/proc/${path##*_}" ] && shared=$path; done
    done
    wait $grader
    [ -z "$shared" ] || break
done
holds "Criterion shares no memory with a check by its number" [ -n "$shared" ]
above=4194305 # the highest number of a process, and one
touch /dev/shm/bxfi_$$ /dev/shm/bxfi_$above
compiling="build/run/99-fake@$(uname -n).$above"
mkdir -p "$compiling/within"
chown 1 "$compiling" 2>/dev/null # as the sandbox's user compiles there
(become_run right.cu)
holds "the folder of a run that never was is left" [ ! -e "$compiling" ]
holds "memory of a process that never was is left" [ ! -e /dev/shm/bxfi_$above ]
holds "memory of a process that there is is gone" [ -e /dev/shm/bxfi_$$ ]
touch /dev/shm/bxfi_$above
if chown 1 /dev/shm/bxfi_$above 2>/dev/null; then
    (become_run right.cu)
    holds "another user's memory is gone" [ -e /dev/shm/bxfi_$above ]
fi
rm -f /dev/shm/bxfi_$$ /dev/shm/bxfi_$above

# refuses WORDS ARGUMENT...: there is nothing to grade, and the words, an extended regular expression, say what to do.
refuses() {
    words=$1
    shift
    build/grader/99-fake "$@" >refused.out 2>&1
    if [ $? -eq 2 ] && grep -qE "$words" refused.out; then
        passed=$((passed + 1))
    else
        echo "99-fake $*: not refused with \"$words\", but:"
        cat refused.out
        failed=$((failed + 1))
    fi
}
refuses '99-fake: there is no check nonsense\. The checks: [a-z]' --check nonsense "exercises/$name.cu"
refuses 'type: make reset-99$' exercises/99-lost.cu

# climbs N TYPED WORDS...: run N of a lesson with a ladder, at a terminal where that is typed, says each of the words.
climbs() {
    run=$1
    printf '%s\n' "$2" | env -u DEVICE -u COLUMNS NVCC="$nvcc" FAKES="$PWD/simulator" DEVICE="$PWD/simulator/run" CUDA_HOME="$PWD/cuda" \
        FAKE_EVENTS="$cases/event-slow.events" FAKE_CASE=event-slow FAKE_TREE="$tree" NO_COLOR=1 SEED= PROFILE= \
        script -qec 'stty cols 72; build/grader/99-fake --result climb.json exercises/event-slow.cu' /dev/null >climb.out 2>&1
    words climb.out >climb.words
    shift 2
    shown=climb.out
    for due; do holds "run $run: does not say \"$due\", but:" grep -qF -- "$due" climb.words; done
}
echo 'ladder = { check = "a_thousand"; steps = ({ name = "whole sectors"; version = 2; }); };' >>profiles/lessons/99-fake.cfg
climbs 1 20 'How many µs will a call take once the answer is right?' 'Step 0 of 1 5/10' 'Predicted 1.0 µs a call; by you 20 µs' \
    'Next read step 1 (make read-99) then change exercises/event-slow.cu6.'
climbs 2 '' 'How many µs will a call take once step 1 is reached? It takes 1.0 µs now.' 'Predicted 1.0 µs a call.' 'Next read step 1'
climbs 3 '' 'Next change exercises/event-slow.cu6.'
! grep -q 'How many' climb.words
holds 'run 3: asks once more' [ $? -eq 0 ]
sed -i '/^ladder/d' profiles/lessons/99-fake.cfg

# What is recorded of runs on a GPU (profiles/record.sh), of two versions that came out as two of the cases above.

# said WORDS: the last command said so. says WORDS COMMAND...: it does.
said() {
    shown=said.out
    holds "not said: \"$1\", but:" grep -qF -- "$1" said.out
}
says() {
    words=$1
    shift
    "$@" >said.out 2>&1
    echo "exit status $?" >>said.out
    said "$words"
}

# record VERSIONS CASE...: versions 1, 2, ... come out as these cases, and VERSIONS are recorded.
record() (
    cd record || exit
    versions=$1
    shift
    CASES=$* sh profiles/record.sh 99-fake $versions
)
mkdir -p record/build/grader record/solutions record/profiles/lessons record/graded/build/grader
cp "$record" record/profiles/record.sh
cp profiles/lessons/99-fake.cfg record/profiles/lessons
ln -s ../profiles record/graded/profiles
cp build/grader/99-fake record/graded/build/grader
echo '#define VERSION 2' >record/solutions/99-fake.cu
cat >record/build/grader/99-fake <<'END'
#!/bin/sh
case $1 in --define) ;; *) exec graded/build/grader/99-fake "$@" ;; esac
version=${2#VERSION=}
cp "../$(echo $CASES | cut -d' ' -f"$version").json" "$4"
END
chmod +x record/build/grader/99-fake
summary=profiles/results/fake-gpu/99-fake.json
if [ "${CASES:-*}" = '*' ]; then
    says '99-fake: 3 bounds and steps looked at, 0 not as the profile says' record '1 2' gpu-right gpu-gold
    said 'exit status 0'
    says '"name": "of the copy rate", "measure": "in_turn", "peer": "copy", "ratio": 0.909' cat record/$summary
    said '"name": "launches", "check": "a_thousand", "counters": ["launch__count"], "sum": 1, "by": 1, "value": 1,'
    says 'exit status 1' grep -E 'by_kernel|source_line|"why"' record/$summary
    says 'version 1 comes to 0.408' record 1 gpu-slow      # and version 2 is as it was
    said '99-fake: 3 bounds and steps looked at, 1 not as the profile says'
    said 'exit status 1'
    says '1.json: is not of a run on a GPU' record '1 2' wrong-nan gpu-gold
    said 'exit status 1'
    says 'gpu-gold.json: is no summary of 99-fake' build/grader/99-fake --hold gpu gpu-gold.json 2
    says '0 bounds and steps looked at' build/grader/99-fake --hold gpu nowhere.json 2
    says 'how many versions' build/grader/99-fake --hold gpu nowhere.json 0
    says 'usage: 99-fake --hold' build/grader/99-fake --hold gpu nowhere.json
    says 'none of these results is there' build/grader/99-fake --summary nowhere.json nothing.json
fi

# Every verdict has a result that is as its schema says, and what no grader writes is not.
NVCC=nowhere build/grader/99-fake --result no-device.json exercises/right.cu >/dev/null 2>&1
shown=schema.out
if [ "${CASES:-*}" = '*' ]; then
    # shellcheck disable=SC2046,SC2086
    $keeps --changed "$schema" $(ls ./*.json | grep -v event-unknown-kind) >schema.out 2>&1
    holds 'results are not as grader/result.schema.json says:' [ $? -eq 0 ]
    ! $keeps "$schema" event-unknown-kind.json >schema.out 2>&1
    holds 'the result with a kind of error that there is not is as the schema says:' [ $? -eq 0 ]
    grep -ho '^ *"verdict": "[A-Z-]*"' ./*.json | sort -u >schema.out
    for verdict in $verdicts; do holds "no result has the verdict $verdict; there are:" grep -qw -- "$verdict" schema.out; done
fi
echo "verdicts: $passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
