#!/bin/sh
# Looks at this machine, for `make doctor`, which knows what packages are missing and sets CUDA_HOME:
#
#     setup/doctor.sh 'THOSE THAT LESSONS NEED' 'THOSE OF WATCHING, THE BOOK AND THE TESTS'
#
# A line for each thing: found, or missing, old, limited or none, and under it the command that mends it. Installs
# and changes nothing. Status 1 when something is missing. DOCTOR_ROOT stands before /proc and /sys, for the tests.
set -u
root=${DOCTOR_ROOT:-}
lacking=0

columns=${COLUMNS:-$(stty size 2>/dev/null | cut -d' ' -f2)}
case $columns in '' | *[!0-9]* | 0) columns=72 ;; esac
[ "$columns" -le 72 ] || columns=72
[ "$columns" -ge 40 ] || columns=40

# tell STATE WORDS: the state, and the words beside it.
tell() {
    [ "$1" != missing ] || lacking=1
    printf '%s\n' "$2" | fmt -w $((columns - 8)) | {
        state=$1
        while IFS= read -r line; do
            printf '%-7s %s\n' "$state" "$line"
            state=
        done
    }
}

# mend COMMAND: on a line of its own, so that it can be copied.
mend() { printf '        Type: %s\n' "$1"; }

# as_root COMMAND
as_root() { [ "$(id -u)" = 0 ] && echo "$1" || echo "sudo $1"; }

# ---- The compilers

compiler() {
    if [ -x "$CUDA_HOME/bin/nvcc" ] && [ -e "$CUDA_HOME/lib64/libcudart.so.13" ]; then
        version=$("$CUDA_HOME/bin/nvcc" --version | sed -n 's/.*, V\([0-9.]*\)$/\1/p')
        case $CUDA_HOME in
        */build/cuda) from="build/cuda, from NVIDIA's Python wheels" ;;
        *) from=$CUDA_HOME ;;
        esac
        tell found "compiler: nvcc $version in $from"
    else
        tell missing 'compiler: no CUDA Toolkit 13. The first lesson loads one into build/cuda; that needs no root.'
        mend 'make lesson-1'
    fi
}

host_compiler() {
    version=$(g++ -dumpfullversion 2>/dev/null) || {
        tell missing 'host compiler: g++'
        mend "$(as_root 'apt-get install g++')"
        return
    }
    newest=$(sed -n 's/^#if __GNUC__ > \([0-9]*\).*/\1/p' "$CUDA_HOME/include/crt/host_config.h" 2>/dev/null)
    if [ -n "$newest" ] && [ "${version%%.*}" -gt "$newest" ]; then
        tell missing "host compiler: g++ $version is newer than this nvcc knows; $newest is the newest"
        mend "$(as_root "apt-get install g++-$newest") && export NVCC_CCBIN=g++-$newest"
    else
        tell found "host compiler: g++ $version"
    fi
}

# ---- The GPU, its driver and its profiler

# A display or 3-D controller of NVIDIA's on the bus.
gpu_on_the_bus() {
    for device in "$root"/sys/bus/pci/devices/*; do
        grep -qx 0x10de "$device/vendor" 2>/dev/null && grep -q '^0x03' "$device/class" && return
    done
    return 1
}

in_wsl() { grep -qi microsoft "$root/proc/version" 2>/dev/null; }

driver() {
    version=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
    case $version in
    [0-9]*.*) ;;
    *)
        if gpu_on_the_bus; then
            tell missing 'driver: there is an NVIDIA GPU, but no driver answers (nvidia-smi). The simulated device works.'
            mend "$(as_root 'apt-get install nvidia-driver') # or your system's own way"
        else
            tell none 'GPU: the simulated device stands in'
        fi
        return 1 ;;
    esac
    if [ "${version%%.*}" -ge 580 ]; then
        tell found "driver: $version"
    else
        tell old "driver: $version; CUDA 13 needs 580 or newer. Until then the simulated device stands in."
        if in_wsl; then
            printf '        On Windows: nvidia.com/drivers\n'
        else
            mend "$(as_root 'apt-get install --upgrade nvidia-driver') # or your system's own way"
        fi
    fi
}

gpus() {
    nvidia-smi --query-gpu=index,name,compute_cap,memory.total --format=csv,noheader | while IFS=, read -r line; do
        index=${line%%,*} rest=${line#*, }
        name=${rest%%,*} rest=${rest#*, }
        capability=${rest%%,*} memory=${rest#*, }
        if [ "$(printf '%s' "$capability" | tr -d .)" -ge 75 ]; then
            tell found "GPU $index: $name, compute capability $capability, $memory"
        else
            tell old "GPU $index: $name has compute capability $capability; CUDA 13 needs 7.5. The simulated device stands in."
        fi
    done
}

profiler() {
    ncu=$(command -v ncu || ls "$CUDA_HOME/bin/ncu" 2>/dev/null)
    if [ -n "$ncu" ]; then
        tell found "profiler: $ncu"
    else
        tell none 'profiler: Nsight Compute (ncu). The lessons do without; it is part of the CUDA Toolkit.'
    fi
    only=$(sed -n 's/^RmProfilingAdminOnly: *//p' "$root/proc/driver/nvidia/params" 2>/dev/null)
    if [ "$only" = 0 ]; then
        tell found 'profiler permission: every user may read counters'
    elif [ "$only" = 1 ] && [ "$(id -u)" = 0 ]; then
        tell found 'profiler permission: root may read counters, and you are root'
    elif [ "$only" = 1 ]; then
        tell limited 'profiler permission: counters for root only. To let every user read them, then restart:'
        mend "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/profiling.conf"
    elif in_wsl; then
        tell limited 'profiler permission: set on Windows. NVIDIA Control Panel, Developer, Manage GPU Performance Counters.'
    else
        tell limited 'profiler permission: the driver does not say (/proc/driver/nvidia/params)'
    fi
}

# ---- The course's own parts

simulator() {
    if [ -x build/simulator/device ] && [ -e build/simulator/lib/libcudart.so.13 ]; then
        tell found 'simulator: build/simulator/device'
    else
        tell missing 'simulator: not built yet. The first lesson builds it.'
        mend 'make lesson-1'
    fi
}

# What classes are graded in: the lines are its own (grader/sandbox/main.c). A lesson needs none of it.
sandbox() {
    program=${DOCTOR_SANDBOX:-build/grader/sandbox}
    if [ ! -x "$program" ]; then
        tell none 'sandbox: not built yet. Grading a class builds it.'
        mend 'make build/grader/sandbox'
        return
    fi
    "$program" --check 2>/dev/null | while read -r state words; do
        case $state in
        type) mend "$(as_root "$words")" ;;
        isolation:) [ "$words" = namespaces ] ||
            tell limited "sandbox, as a whole: a class is graded only if UNTRUSTED=1 says so; submissions are kept apart by: $words" ;;
        *) tell "$state" "sandbox, $words" ;;
        esac
    done
}

# What `make grade GPU=1` gives a submission of the machine (gpu_nodes, grader/gpu.h). In the sandbox it is another user.
gpu_sandbox() {
    closed=
    for node in "$root/dev/nvidiactl" "$root/dev/nvidia-uvm" "$root"/dev/nvidia[0-9]*; do
        [ -n "$(find "$node" -perm -006 2>/dev/null)" ] || closed="$closed ${node#"$root"}"
    done
    if [ -n "$closed" ]; then
        tell limited "sandbox on a GPU: other users cannot open$closed, and make grade GPU=1 runs submissions as another user"
    else
        tell found 'sandbox on a GPU: every user may open its device nodes; one submission at a time to a GPU, and memory is cleared before each'
    fi
    tell limited 'trust on a GPU: a submission can forge what it is timed by, so its time is told, and is no mark (class.cfg: gpu)'
}

# packages FOR LIST STATE: those that are missing, if any are.
packages() {
    if [ -z "$2" ]; then
        tell found "packages for $1: all of them"
    else
        tell "$3" "packages for $1, not there: $2"
        mend 'make setup'
    fi
}

course() { tell found "course: Warpwise $(sh setup/version.sh)"; }

system() {
    name=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null)
    tell found "system: ${name:-Linux}$(in_wsl && echo ' in WSL'), $(uname -m), $(nproc) cores"
}

course
system
compiler
host_compiler
if driver; then
    gpus
    profiler
    gpu_sandbox
fi
simulator
sandbox
packages lessons "$1" missing
packages 'watching, the book and the tests' "$2" none
[ "$lacking" -ne 0 ] || echo 'All is here. Type: make lesson-1'
exit "$lacking"
