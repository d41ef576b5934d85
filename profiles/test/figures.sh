#!/bin/sh
# The programs that measure what the book draws still compile against today's solutions: they need a GPU to run, so
# nothing else would see that a name is gone which one of them uses. The compiler goes as far as PTX, which takes in the
# host's functions too, and optimises nothing: a third of a second each.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

compiles() {
    "${NVCC:-nvcc}" -std=c++17 --extended-lambda -arch=sm_90 -I grader/lessons -ptx -Xcicc -O0 -o "$scratch/it.ptx" "$1" >"$scratch/said" 2>&1
}

good() { passed=$((passed + 1)); }

bad() {
    echo "$1"
    sed 's/^/    /' "$scratch/said"
    failed=$((failed + 1))
}

for figure in profiles/figures/*.cu; do
    if compiles "$figure"; then
        good
    elif grep -qE 'fatal error: [a-z][a-z0-9_/]*\.(h|cuh): No such file' "$scratch/said"; then    # a library is not on this machine
        echo "$figure: not compiled here, $(grep -o '[^ ]*: No such file.*' "$scratch/said" | head -n 1)"
    else
        bad "$figure: does not compile"
    fi
done

# What these change in a solution is there to be changed: they run with stand-ins for the compiler and the GPU.
mkdir "$scratch/bin"
cat >"$scratch/bin/nvcc" <<'STAND_IN'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp /bin/true "$2"
STAND_IN
cat >"$scratch/bin/ncu" <<'STAND_IN'
#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" != --log-file ] || : >"$2"
    shift
done
STAND_IN
cp /bin/true "$scratch/bin/nvidia-smi"
chmod +x "$scratch/bin/"*
finds() {
    if PATH="$scratch/bin:$PATH" BUILD="$scratch" sh "$@" >"$scratch/said" 2>&1; then
        good
    else
        bad "$*: a solution no longer has what it changes"
    fi
}
finds profiles/figures/09-scan.sh
finds profiles/figures/11-radix-sort.sh
for lesson in $(sed -n 's/^\([0-9][0-9]-[a-z-]*\))$/\1/p' profiles/figures/tried.sh); do
    finds profiles/figures/tried.sh "$lesson"
done

# A name that is gone is seen where the host alone uses it.
echo 'int main(void) { return gone(); }' >"$scratch/gone.cu"
if ! compiles "$scratch/gone.cu" && grep -q '"gone" is undefined' "$scratch/said"; then
    good
else
    bad 'a name that is not there goes unseen'
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
