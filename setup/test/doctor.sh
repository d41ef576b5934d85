#!/bin/sh
# What `make doctor` says of machines that this one is not: drivers, GPUs and permissions are fakes.
set -u
passed=0 failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bin" "$scratch/system/proc/driver/nvidia" "$scratch/system/sys/bus/pci/devices/0" \
    "$scratch/cuda/bin" "$scratch/cuda/lib64" "$scratch/cuda/include/crt"
printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n' >"$scratch/cuda/bin/nvcc"
touch "$scratch/cuda/lib64/libcudart.so.13"
echo '#if __GNUC__ > 15' >"$scratch/cuda/include/crt/host_config.h"
cat >"$scratch/bin/nvidia-smi" <<'SMI'
#!/bin/sh
case $1 in
*driver_version*) [ -n "${FAKE_DRIVER:-}" ] && echo "$FAKE_DRIVER" || exit 9 ;;
*) printf '%s' "${FAKE_GPUS:-}" ;;
esac
SMI
printf '#!/bin/sh\necho ${FAKE_GCC:-12.2.0}\n' >"$scratch/bin/g++"
printf '#!/bin/sh\necho ${FAKE_ID:-1000}\n' >"$scratch/bin/id"
chmod +x "$scratch"/bin/* "$scratch/cuda/bin/nvcc"
export PATH="$scratch/bin:$PATH" DOCTOR_ROOT="$scratch/system" CUDA_HOME="$scratch/cuda" COLUMNS=

look() {
    sh setup/doctor.sh "${lessons:-}" "${others:-}" >"$scratch/says" 2>&1
    status=$?
}

# says WORDS: on the terminal, wherever a line broke.
says() {
    if tr -s ' \n' '  ' <"$scratch/says" | grep -qF -- "$1"; then
        passed=$((passed + 1))
    else
        echo "should say \"$1\", but says:"
        sed 's/^/    /' "$scratch/says"
        failed=$((failed + 1))
    fi
}
ends() {
    if [ "$status" -eq "$1" ]; then passed=$((passed + 1)); else
        echo "should end with $1, not $status"
        failed=$((failed + 1))
    fi
}

# The sandbox of a class: what it says of itself, and with each line the state and what to type.
cat >"$scratch/bin/sandbox" <<'SANDBOX'
#!/bin/sh
[ "$*" = --check ] || exit 125
printf '%s\n' "${FAKE_SANDBOX:-isolation: namespaces}"
SANDBOX
chmod +x "$scratch/bin/sandbox"
export DOCTOR_SANDBOX=/none
look
says 'none sandbox: not built yet. Grading a class builds it. Type: make build/grader/sandbox'
DOCTOR_SANDBOX=$scratch/bin/sandbox
FAKE_SANDBOX='limited namespaces: refused
type sysctl user.max_user_namespaces=10000
found system calls: filtered
isolation: process' look
says 'limited sandbox, namespaces: refused Type: sudo sysctl user.max_user_namespaces=10000'
says 'found sandbox, system calls: filtered'
says 'UNTRUSTED=1 says so; submissions are kept apart by: process'
FAKE_SANDBOX='found namespaces: own mnt
isolation: namespaces' look
says 'found sandbox, namespaces: own mnt'
holds_not() { ! grep -q "$1" "$scratch/says"; }
if holds_not UNTRUSTED; then passed=$((passed + 1)); else
    echo 'a whole sandbox is told of as half of one'
    failed=$((failed + 1))
fi

# A machine without a GPU.
look
says "found compiler: nvcc 13.0.88 in $scratch/cuda"
says 'found host compiler: g++ 12.2.0'
says "found course: Warpwise $(cat VERSION)"
says 'none GPU: the simulated device stands in'
says 'found packages for lessons: all of them'

# No toolkit, libraries missing, a compiler that is too new.
CUDA_HOME=/none lessons='libffi-dev libdw-dev' others=pandoc look
says 'missing compiler: no CUDA Toolkit 13.'
says 'missing packages for lessons, not there: libffi-dev libdw-dev Type: make setup'
says 'none packages for watching, the book and the tests, not there: pandoc'
ends 1
FAKE_GCC=16.1.0 look
says 'g++ 16.1.0 is newer than this nvcc knows; 15 is the newest Type: sudo apt-get install g++-15'
ends 1

# A GPU on the bus, and no driver.
echo 0x10de >"$DOCTOR_ROOT/sys/bus/pci/devices/0/vendor"
echo 0x030200 >"$DOCTOR_ROOT/sys/bus/pci/devices/0/class"
look
says 'missing driver: there is an NVIDIA GPU, but no driver answers'
FAKE_ID=0 look
says 'Type: apt-get install nvidia-driver'

# An old driver; an old GPU beside a new one; counters for root only, for everyone, and on Windows.
export FAKE_DRIVER=550.54.15 FAKE_GPUS='0, NVIDIA H200, 9.0, 143771 MiB
1, Tesla V100-SXM2-16GB, 7.0, 16384 MiB
'
echo 'RmProfilingAdminOnly: 1' >"$DOCTOR_ROOT/proc/driver/nvidia/params"
look
says 'old driver: 550.54.15; CUDA 13 needs 580 or newer.'
says 'found GPU 0: NVIDIA H200, compute capability 9.0, 143771 MiB'
says 'old GPU 1: Tesla V100-SXM2-16GB has compute capability 7.0; CUDA 13 needs 7.5.'
says 'limited profiler permission: counters for root only.'
says 'NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/profiling.conf'
FAKE_ID=0 look
says 'found profiler permission: root may read counters, and you are root'
echo 'RmProfilingAdminOnly: 0' >"$DOCTOR_ROOT/proc/driver/nvidia/params"
mkdir "$DOCTOR_ROOT/dev"
touch "$DOCTOR_ROOT/dev/nvidiactl" "$DOCTOR_ROOT/dev/nvidia0" "$DOCTOR_ROOT/dev/nvidia1"
chmod 666 "$DOCTOR_ROOT"/dev/nvidia*
chmod 660 "$DOCTOR_ROOT/dev/nvidia1"
look
says 'limited sandbox on a GPU: other users cannot open /dev/nvidia-uvm /dev/nvidia1, and'
touch "$DOCTOR_ROOT/dev/nvidia-uvm"
chmod 666 "$DOCTOR_ROOT"/dev/nvidia*
look
says 'found sandbox on a GPU: every user may open its device nodes'
says 'limited trust on a GPU: a submission can forge what it is timed by'
FAKE_DRIVER=580.65.06 look
says 'found driver: 580.65.06'
says 'found profiler permission: every user may read counters'
rm "$DOCTOR_ROOT/proc/driver/nvidia/params"
echo 'Linux version 6.6-microsoft-standard-WSL2' >"$DOCTOR_ROOT/proc/version"
look
says 'in WSL'
says 'On Windows: nvidia.com/drivers'
says 'limited profiler permission: set on Windows.'

# Narrow terminals: every line fits, but commands and names, which are not broken.
COLUMNS=60 look
if grep -v 'Type: ' "$scratch/says" | awk -v name="$scratch" 'length($0) > 60 && !index($0, name) { exit 1 }'; then
    passed=$((passed + 1))
else
    echo 'lines are longer than 60:'
    cat "$scratch/says"
    failed=$((failed + 1))
fi

echo "doctor: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
