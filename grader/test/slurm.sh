#!/bin/sh
# Tests `make grade SLURM=1` on a Slurm of one node, which this starts and stops: 60 submissions in an array of which half is
# cancelled, a run that is killed and begun again while its array runs, and an array on GPUs, which are fakes (fake/tree.sh).
set -u
[ -x build/grader/01-first-kernel ] && [ -x build/grader/class ] || { echo 'slurm: type make ready-1 build/grader/class first'; exit 1; }
PATH=$PATH:/usr/sbin
for command in munged slurmctld slurmd sbatch; do
    command -v "$command" >/dev/null || { echo "slurm: $command is missing. Type: make build/setup/test"; exit 1; }
done
. grader/test/fake/tree.sh
scratch=$(mktemp -d)
chmod 755 "$scratch"
passed=0 failed=0
cases=$PWD/grader/test/verdicts
. grader/holds.sh

# ---- A Slurm of our own: its files in one folder, on ports that nobody else has

export SLURM_CONF="$scratch/slurm.conf"
host=$(hostname -s)
port=$((20000 + $$ % 20000))
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
KillWait=2
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 Gres=gpu:2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
PartitionName=gpus Nodes=$host MaxTime=INFINITE State=UP
CONF
printf 'Name=gpu File=%s\n' "$machine/dev/nvidia0" "$machine/dev/nvidia1" >"$scratch/gres.conf"
mkdir "$scratch/state" "$scratch/spool"
head -c 1024 /dev/urandom >"$scratch/munge.key"
chmod 400 "$scratch/munge.key"

gone() { ! kill -0 "$1" 2>/dev/null; }
end() {    # end DAEMON
    process=$(cat "$scratch/$1.pid" 2>/dev/null) && kill "$process" && waits gone "$process"
}
waits() { for _ in $(seq 300); do ! "$@" || return 0; sleep 0.2; done; return 1; }
stop() {
    scancel --user="$(id -un)"
    for daemon in slurmd slurmctld munged; do end "$daemon"; done
    rm -rf "$scratch" "$tree"
} 2>/dev/null
trap stop EXIT
munged --force --socket="$scratch/munge.socket" --key-file="$scratch/munge.key" --pid-file="$scratch/munged.pid" \
    --seed-file="$scratch/munge.seed" --log-file="$scratch/munged.log" >/dev/null 2>&1
slurmctld >/dev/null 2>&1
slurmd >/dev/null 2>&1
up() { [ "$(sinfo --noheader --partition=all --format=%T 2>/dev/null)" = idle ]; }
holds "Slurm does not start: $(cat "$scratch"/*.log 2>/dev/null | tail -n 5)" waits up

# ---- 60 submissions, half of the array cancelled

class=$scratch/class grades=$scratch/grades
for n in $(seq 60); do
    mkdir -p "$class/student $n"
    cp "$([ $((n % 3)) -eq 0 ] && echo exercises || echo solutions)/01-first-kernel.cu" "$class/student $n"
done
results() { find "$grades/results" -name '*.json' 2>/dev/null | wc -l; }
some_graded() { [ "$(results)" -ge "$1" ]; }

build/grader/class --slurm "$class" "$grades" >"$scratch/said" 2>&1 &
grading=$!
holds 'nothing is graded' waits some_graded 2
running=$(squeue --noheader --states=R --format=%i | tail -n 1) waiting=$(squeue --noheader --array --states=PD --format=%i)
before=$(results)
# shellcheck disable=SC2086
scancel $running $waiting
wait "$grading"
holds "ends with $?: $(cat "$scratch/said")" [ $? -eq 0 ]
holds "was cancelled when all was graded" [ "$before" -lt 40 ]
count() { grep -c ",01-first-kernel,$1," "$grades/gradebook.csv"; }
holds "$(count PASS) of 40 right answers" [ "$(count PASS)" -eq 40 ]
holds "$(count TODO) of 20 untouched ones" [ "$(count TODO)" -eq 20 ]
holds 'jobs are left' [ -z "$(squeue --noheader)" ]
holds 'two arrays did not do' [ "$(grep -c '_slurm_rpc_submit_batch_job: JobId' "$scratch/slurmctld.log")" -eq 2 ]

# ---- Killed while the array runs, and begun again: its array does not grade beside the new one

cp -R "$grades" "$scratch/again"
find "$scratch/again/results" -name '*.json' | sort | head -n 30 | xargs rm
build/grader/class --slurm "$class" "$scratch/again" >/dev/null 2>&1 &
grading=$!
grades=$scratch/again
holds 'nothing is graded again' waits some_graded 32
kill -KILL "$grading"
wait "$grading" 2>/dev/null
holds 'the array has gone with the run' [ -n "$(squeue --noheader)" ]
build/grader/class --slurm "$class" "$grades" >"$scratch/said" 2>&1
holds "begun again it ends with $?: $(cat "$scratch/said")" [ $? -eq 0 ]
holds 'begun again it has another gradebook' cmp -s "$grades/gradebook.csv" "$scratch/grades/gradebook.csv"

# ---- On GPUs, in their partition: 22 that are right and 2 that are wrong, in tasks with a GPU each

(
    cd "$tree" || exit
    for n in $(seq 24); do
        mkdir -p "class/student $n"
        sed "s/= 2 \*/= $([ "$n" -le 2 ] && echo 3 || echo 2) */; \$s|\$|// $n|" "$cases/gpu-right.cu" >"class/student $n/99-fake.cu"
    done
    unset CUDA_VISIBLE_DEVICES DEVICE FAKES SEED PROFILE
    exec env CUDA_HOME="$tree/cuda" NVCC="$tree/cuda/bin/nvcc" GPU_ROOT="$machine" LD_LIBRARY_PATH="$machine/driver" \
        FAKE_CASE=gpu-right FAKE_EVENTS="$cases/gpu-right.events" FAKE_GPUS=2 build/grader/class --gpu gpus --slurm class "$scratch/gpus"
) >"$scratch/said" 2>&1
holds "on GPUs it ends with $?: $(cat "$scratch/said")" [ $? -eq 0 ]
timed() { grep -c ",99-fake,$1" "$scratch/gpus/gradebook.csv"; }
holds "$(timed 'PASS.*,h200 and Fake GPU: PASS,') of 22 right answers were on a GPU" [ "$(timed 'PASS.*,h200 and Fake GPU: PASS,')" -eq 22 ]
holds "$(timed 'WRONG.*,h200,') of 2 wrong answers were not" [ "$(timed 'WRONG.*,h200,')" -eq 2 ]
partitions() { sed -n 's/.*sched: Allocate JobId=.* Partition=\([a-z]*\)$/\1/p' "$scratch/slurmctld.log" | sort | uniq -c | tr -s ' \n' ' '; }
holds "not one array in the GPUs' partition: $(partitions)" [ "$(partitions | grep -c ' 2 gpus')" -eq 1 ]

# ---- Where no job can be submitted

end slurmd
end slurmctld
holds 'ends well without Slurm' [ "$(build/grader/class --slurm "$class" "$scratch/none" >/dev/null 2>&1; echo $?)" -eq 1 ]

echo "slurm: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
