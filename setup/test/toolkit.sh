#!/bin/sh
# Tests setup/toolkit.sh without the network: a fake pip3 unpacks fake wheels, laid out as NVIDIA's are.
set -u
passed=0 failed=0
. grader/holds.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
cat >"$scratch/bin/pip3" <<'PIP'
#!/bin/sh
echo "pip3 $*"
[ -z "${PIP_FAILS:-}" ] || { echo 'No matching distribution found'; exit 1; }
while [ $# -gt 1 ]; do
    [ "$1" != --target ] || target=$2
    shift
done
mkdir -p "$target/nvidia/cu13/bin" "$target/nvidia/cu13/lib" "$target/nvidia_nvvm-13.0.88.dist-info/licenses"
printf '#!/bin/sh\necho release 13.0\n' >"$target/nvidia/cu13/bin/nvcc"
chmod +x "$target/nvidia/cu13/bin/nvcc"
echo library >"$target/nvidia/cu13/lib/libcudart.so.13"
echo terms >"$target/nvidia_nvvm-13.0.88.dist-info/licenses/License.txt"
PIP
chmod +x "$scratch/bin/pip3"
PATH=$scratch/bin:$PATH
folder=$scratch/build/cuda

says() { grep -qF -- "$1" "$scratch/says"; }

PIP_FAILS=1 sh setup/toolkit.sh "$folder" >"$scratch/says" 2>&1
holds 'a failure is no success' [ $? -ne 0 ]
holds 'a failure leaves no toolkit' [ ! -e "$folder" ]
holds "a failure shows pip's words" says 'No matching distribution found'
holds 'a failure says what to do' says 'install the CUDA Toolkit 13'

sh setup/toolkit.sh "$folder" >"$scratch/says" 2>&1
holds 'it ends well' [ $? -eq 0 ]
holds 'it says so in one line' [ "$(wc -l <"$scratch/says")" -eq 1 ]
holds 'it has the compiler' "$folder/bin/nvcc" --version >"$scratch/says"
holds 'a Makefile finds the runtime' grep -q library "$folder/lib64/libcudart.so.13"
holds 'a linker finds the runtime' grep -q library "$folder/lib/libcudart.so"
holds 'the licences are kept' grep -q terms "$folder/licences/nvidia_nvvm-13.0.88.txt"
holds 'the wheels themselves are not' [ "$(ls "$scratch/build" | tr '\n' ' ')" = 'cuda cuda.log ' ]
holds 'pip checks hashes' grep -q -- --require-hashes "$folder.log"

# Each wheel has a version and a hash for each of the two kinds of machines.
holds 'every wheel is pinned' awk '
    !/^#/ && /^nvidia/ { wheels++; pinned += /==[0-9.]+ / }
    /--hash=sha256:[0-9a-f]+/ { hashes++ }
    END { exit !(wheels && pinned == wheels && hashes == 2 * wheels) }' setup/toolkit.txt

echo "toolkit: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
