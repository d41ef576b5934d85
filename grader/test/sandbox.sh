#!/bin/sh
# Tests build/grader/sandbox: what a program in it sees, may do and may use; how its end is told; that nothing is left of it; and
# that a compiler is found in it wherever it is, or else is nothing that a student pays for.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
passed=0 failed=0
. grader/holds.sh
sandbox=$PWD/build/grader/sandbox

# within "SHELL WORDS": its status, in the sandbox; what it says is in $said.
within() {
    words=$1
    shift
    said=$("$sandbox" "$@" --read "$scratch" -- sh -c "$words" 2>&1)
}
# stale: of paths that end in a process id, those of processes that are no more.
stale() { while read -r path; do [ -d "/proc/${path##*-}" ] || echo "$path"; done; }
works() { within "$@"; status=$?; holds "$1: ends with $status: $said" [ "$status" -eq 0 ]; }
fails() { within "$@"; status=$?; holds "$1: works: $said" [ "$status" -ne 0 ]; }

gcc -O1 -o "$scratch/calls" grader/test/sandbox/calls.c -lseccomp || exit 1
echo 'a student of another name' >"$scratch/roster"
mkdir "$scratch/out"

holds 'the machine refuses namespaces: classes cannot be graded here, and these tests fail' "$sandbox" --check >"$scratch/check"
for part in 'namespaces: own mnt, pid, user, net, ipc' 'user: ' 'system calls: filtered' 'files in sight: those that it is shown' 'files: /tmp and /dev/shm hold 64 MiB' \
    'processor time: 120 s' 'memory: kept by ' 'processes: kept by '; do
    holds "--check does not say '$part'" grep -qE "^(found|limited) $part" "$scratch/check"
done
holds '--check names no isolation' [ "$(tail -n 1 "$scratch/check")" = 'isolation: namespaces' ]

# What is there.
works "test -r $scratch/roster"
fails "test -e $PWD/solutions"
fails 'test -e /etc/passwd'
fails 'test -e /root || test -e /home'
fails "echo a >>$scratch/roster"
fails 'touch /here || touch /usr/here || touch /dev/here'
works 'touch /tmp/here /dev/shm/here'
works 'test "$(ls -d /proc/[0-9]* | wc -l)" -le 8'
works 'test "$(id -u)" = 1000'
works 'test "$(cat /proc/net/dev | grep -c :)" -eq 1'
SECRET=1 works 'test -z "${SECRET:-}${WARPWISE_RUN:-}"'
SECRET=1 works 'test "$SECRET" = 1' --keep SECRET
works "test \"\$PWD\" = $scratch" --at "$scratch"
works "echo made >$scratch/out/file" --write "$scratch/out"
holds 'what it made is not ours' [ "$(stat -c %u "$scratch/out")" = "$(id -u)" ]
holds 'what it made is lost' grep -q made "$scratch/out/file"

# A path through links: each is there again, and nothing beside it.
mkdir -p "$scratch/apart/store/tool" "$scratch/apart/names" "$scratch/apart/here"
echo 'echo a tool' >"$scratch/apart/store/tool/run"
ln -s ../store/tool "$scratch/apart/names/current"
ln -s "$scratch/apart/names/current" "$scratch/apart/here/tool"
echo 'not shown' | tee "$scratch/apart/names/other" "$scratch/apart/store/other" >"$scratch/apart/here/other"
apart() { said=$("$sandbox" --read "$1" -- sh -c "$2" 2>&1); }
for path in "$scratch/apart/here/tool" "$scratch/apart/here/../here/tool/." "$scratch/apart/here/tool/run"; do
    apart "$path" "sh ${path%/run}/run && sh $scratch/apart/names/current/run && test -L $scratch/apart/here/tool"
    holds "by links: $path: $said" [ $? -eq 0 ]
    apart "$path" "ls $scratch/apart/*/other"
    holds "beside links: $path: $said" [ $? -ne 0 ]
done
for path in /proc/self/exe /bin/sh /usr/bin/c++ /etc/alternatives/c++; do
    apart "$path" 'c++ --version'
    holds "a link of the system's, $path: $said" [ $? -eq 0 ]
done
works 'c++ --version'

# What it may do.
for call in ptrace process_vm_readv unshare mount keyctl bpf userfaultfd io_uring clone_user; do
    within "$scratch/calls $call"
    status=$?
    holds "$call: ends with $status, not 1: $said" [ "$status" -eq 1 ]
done
works "$scratch/calls thread"

# What it may use.
fails "$scratch/calls memory 300" --memory 200000000
works "$scratch/calls memory 100" --memory 200000000
fails 'head -c 3000000 /dev/zero >/tmp/a && head -c 3000000 /dev/zero >/tmp/b' --file 4000000
fails 'while :; do :; done' --seconds 1
within 'i=0; while [ $i -lt 60 ]; do sleep 1 & i=$((i + 1)); done; wait' --processes 20
holds "sixty processes where twenty may be (says: $said)" [ "$(echo "$said" | grep -c -i fork)" -gt 0 ]

# How it ends.
within 'exit 7'
holds 'status 7 is told' [ $? -eq 7 ]
within 'kill -SEGV $$'
holds 'a signal is 128 more than its number' [ $? -eq 139 ]
for isolation in namespaces process; do
    said=$("$sandbox" --isolation "$isolation" -- /none 2>&1)
    holds "with $isolation a program that is not there is not 125" [ $? -eq 125 ]
    for status in 122 123 124 125; do
        within "exit $status" --isolation "$isolation"
        holds "with $isolation status $status of the command's is taken for the sandbox's" [ $? -eq 122 ]
    done
done
if grep -q '^found memory' "$scratch/check"; then
    within "$scratch/calls memory 300" --memory 200000000
    holds 'what is killed at its limit of memory is not 124' [ $? -eq 124 ]
    within "$scratch/calls memory 300; exit 0" --memory 200000000
    holds 'a command that goes on without what was killed has not its own status' [ $? -eq 0 ]
fi
said=$("$sandbox" --memory none -- true 2>&1)
holds 'a limit that is no number is 125' [ $? -eq 125 ]
holds 'no command is 125' sh -c "$sandbox 2>/dev/null; [ \$? -eq 125 ]"

# Its user: for root a number that no other process has, for others their own.
"$sandbox" --read "$scratch" -- sleep 98763 &
sleep 0.5
owner=
for process in $(grep -lazx 98763 /proc/[0-9]*/cmdline 2>/dev/null); do
    [ "$(cat "${process%cmdline}comm")" != sleep ] || owner=$(awk '/^Uid:/ { print $2 }' "${process%cmdline}status")
done
kill -KILL $!
wait $! 2>/dev/null
case $(id -u) in 0) holds "its user is ${owner:-}" [ "${owner:-0}" -ge 2000000000 ] ;;
*) holds "its user is ${owner:-}" [ "${owner:-}" = "$(id -u)" ] ;; esac

# What is left. A process that goes on ends with the sandbox; killed itself, it takes all with it.
within '(sleep 98761 &) ; exit 0'
for after in '-- true' --check; do # either takes away what the one that was killed has left
    "$sandbox" -- sh -c 'setsid sleep 98762' &
    sleep 1
    kill -KILL $!
    wait $! 2>/dev/null
    sleep 1
    holds 'processes are left' [ -z "$(grep -lazx '9876[12]' /proc/[0-9]*/cmdline 2>/dev/null)" ]
    # shellcheck disable=SC2086
    "$sandbox" $after >/dev/null
    holds "cgroups are left after $after" [ -z "$(find /sys/fs/cgroup -maxdepth 4 -name 'warpwise-*' -newer "$scratch/check" 2>/dev/null | stale)" ]
done

# Where namespaces are refused: said, never less than asked for in silence; root has another user, and all else holds.
"$scratch/calls" contained "$sandbox" --check >"$scratch/refused" 2>/dev/null
holds 'a machine that refuses namespaces is no failure' [ $? -eq 1 ]
holds 'and is not told' grep -q '^limited namespaces: refused' "$scratch/refused"
"$scratch/calls" contained "$sandbox" -- true 2>/dev/null
holds 'less than namespaces is taken for them' [ $? -eq 125 ]
holds 'this kernel has no Landlock (5.13 has), without which these tests fail' "$scratch/calls" landlock
least=process
[ "$(id -u)" != 0 ] || least=user
holds "the best there is not $least: $(tail -n 1 "$scratch/refused")" [ "$(tail -n 1 "$scratch/refused")" = "isolation: $least" ]
SECRET=1 works 'test -z "${SECRET:-}"' --isolation "$least"
SECRET=1 works 'test "$SECRET" = 1' --isolation "$least" --keep SECRET
for call in ptrace process_vm_readv unshare mount keyctl bpf io_uring socket shmget; do
    within "$scratch/calls $call" --isolation "$least"
    status=$?
    holds "$call without namespaces: ends with $status, not 1: $said" [ "$status" -eq 1 ]
done
fails "$scratch/calls memory 300" --memory 200000000 --isolation "$least"
works "echo made >$scratch/out/other" --write "$scratch/out" --isolation "$least"

# Without namespaces Landlock hides what is in files and folders.
works "cat $scratch/roster" --isolation "$least"
works "cd $scratch/out && echo made >new && mkdir folder && mv new folder && ln -s a b && : >folder/new && rm -r folder b" \
    --write "$scratch/out" --isolation "$least"
works 'head -c 9 /dev/zero >/dev/null && head -c 9 /dev/urandom >/dev/null && ls /bin /usr/lib && cat /proc/self/stat' --isolation "$least"
mkdir -p "$scratch/hidden/folder" && chmod 777 "$scratch/hidden" "$scratch/hidden/folder" && echo hidden >"$scratch/hidden/file" && chmod 666 "$scratch/hidden/file"
cp /bin/true "$scratch/hidden"
hidden() { # the sandbox does not show $scratch here
    said=$("$sandbox" --isolation "$least" --write "$scratch/out" -- sh -c "$1" 2>&1)
    holds "without namespaces: $1: $said" [ $? -ne 0 ]
}
for words in "cat $PWD/solutions/01-first-kernel.cu" "ls $PWD" 'cat /etc/passwd' 'ls /' 'ls /tmp /dev' 'touch /tmp/here' "cat $scratch/hidden/file" \
    "ls $scratch/hidden" "echo a >>$scratch/hidden/file" "echo a >$scratch/hidden/new" "mkdir $scratch/hidden/new" "rm $scratch/hidden/file" \
    "rmdir $scratch/hidden/folder" "ln -s a $scratch/hidden/new" "mkfifo $scratch/hidden/new" "$scratch/hidden/true" \
    "ln $scratch/hidden/file $scratch/out/file2" "mv $scratch/hidden/file $scratch/out/file3" "ln -s $scratch/hidden/file $scratch/out/link && cat $scratch/out/link"; do
    hidden "$words"
done
holds 'what is hidden was changed' [ "$(cat "$scratch/hidden/file")" = hidden ]
fails "echo a >>$scratch/hidden/file" --isolation "$least" # which is shown, and can be written by everybody
fails ": >$scratch/hidden/file" --isolation "$least"

# Of an older kernel less is said, and done.
"$scratch/calls" older "$sandbox" --check >"$scratch/older" 2>/dev/null
holds "without Landlock: $(tail -n 1 "$scratch/older")" [ "$(tail -n 1 "$scratch/older")" = 'isolation: process' ]
holds 'and is not told' grep -q '^limited files in sight: all that its user can read' "$scratch/older"
holds 'without Landlock nothing can be run' "$scratch/calls" older "$sandbox" --isolation process -- cat /etc/passwd >"$scratch/said"
holds 'without namespaces: what it made is not ours' [ "$(stat -c %u "$scratch/out")" = "$(id -u)" ]
if [ "$least" = user ]; then
    works 'test "$(id -u)" -ge 2000000000' --isolation user
    echo mine >"$scratch/mine" && chmod 600 "$scratch/mine"
    fails "cat $scratch/mine" --isolation user # which root alone may read
    "$scratch/calls" older "$sandbox" --isolation user -- true 2>"$scratch/said"
    holds 'less than Landlock is taken for it' [ $? -eq 125 ]
    holds 'and is not told' grep -q 'Landlock' "$scratch/said"
    within 'setsid sleep 98764 & exit 0' --isolation user
    "$scratch/calls" older "$sandbox" --isolation process -- sh -c 'setsid sleep 98765 & id -u' >"$scratch/said" 2>&1
    holds 'without Landlock: it is no other user' [ "$(cat "$scratch/said")" -ge 2000000000 ]
    holds 'without namespaces: processes are left' [ -z "$(grep -lazx '9876[45]' /proc/[0-9]*/cmdline 2>/dev/null)" ]
else
    "$sandbox" --isolation user -- true 2>/dev/null
    holds 'another user without root' [ $? -eq 125 ]
fi

# A submission that is right, compiled and run in the sandbox. What nvcc's links lead through is hidden there, as are the compilers.
here=$PWD lesson=01-first-kernel
grade() { # NAME=VALUE...: the first words of what is said
    said=$(cd "$scratch" && env -u SEED NO_COLOR=1 DEVICE="$here/simulator/run" WARPWISE_SANDBOX="$sandbox" "$@" \
        "$here/build/grader/$lesson" --result "$scratch/result.json" $lesson.cu 2>&1 | tr -s ' \n' ' ')
}
says() {
    expected=$1 words=$2
    shift 2
    grade "$@"
    case $said in *"$expected "*"$words"*) passed=$((passed + 1)) ;; *) holds "$*: not $expected, '$words': $said" false ;; esac
}
host=$(command -v "${NVCC_CCBIN:-g++}")
toolkit=$(dirname "$(dirname "$(realpath "$(command -v "${NVCC:-nvcc}")")")")
mkdir -p "$scratch/opt/toolkit/bin" "$scratch/alternatives" "$scratch/named" "$scratch/path"
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "${NVCC:-nvcc}")" >"$scratch/opt/toolkit/bin/nvcc-here"
chmod +x "$scratch/opt/toolkit/bin/nvcc-here"
ln -s "${CUDA_HOME:-$toolkit}/lib64" "$scratch/opt/toolkit/lib64"
ln -s ../opt/toolkit "$scratch/alternatives/cuda"
ln -s "$scratch/alternatives/cuda" "$scratch/named/cuda"
ln -s "$host" "$scratch/alternatives/g++"
ln -s ../alternatives/g++ "$scratch/path/g++"
cp "solutions/$lesson.cu" "$scratch/"
export PATH="$scratch/named/cuda/bin:$PATH"
says PASS 'lesson 1' "CUDA_HOME=$scratch/named/cuda" NVCC=nvcc-here
says PASS 'lesson 1' "NVCC_CCBIN=$scratch/path/g++"
mkdir "$scratch/own"
printf '#!/bin/sh\nexec %s -DOWN_HOST "$@"\n' "$host" >"$scratch/own/g++"
chmod +x "$scratch/own/g++"
printf '#ifndef OWN_HOST\n#error another g++\n#endif\n' | cat - "solutions/$lesson.cu" >"$scratch/$lesson.cu"
says PASS 'lesson 1' "PATH=$scratch/own:$PATH"
cp "solutions/$lesson.cu" "$scratch/"
# None is found, it is broken, or its sandbox is: the grader's own failure.
says GRADER-ERROR 'did not start the compiler' NVCC=nvcc-nowhere
says GRADER-ERROR 'did not start the compiler' "WARPWISE_SANDBOX=$scratch/none"
printf '#!/bin/sh\nkill -KILL $$\n' >"$scratch/opt/g++"
cp "$scratch/opt/g++" "$scratch/opt/gcc"
chmod +x "$scratch/opt/g++" "$scratch/opt/gcc"
says GRADER-ERROR "refuses even an empty file. It says: nvcc error : '$scratch/opt/g" "NVCC_CCBIN=$scratch/opt"
# What is refused for its own words is the student's, and so is what takes the sandbox's memory; the machine's is the grader's.
like() { # NAME OPTIONS: a sandbox
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1" && chmod +x "$scratch/$1"
}
like small "exec $sandbox --memory 30000000 \"\$@\""
like starved 'exit 123'
says BUILD 'more memory for this file than it has' "WARPWISE_SANDBOX=$scratch/small"
says GRADER-ERROR 'this machine has no more memory' "WARPWISE_SANDBOX=$scratch/starved"
echo '#error a mistake' >"$scratch/$lesson.cu"
says BUILD 'The compiler refuses the file'

echo "sandbox: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
