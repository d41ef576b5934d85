#!/bin/sh
# What README.md promises of a machine that has no CUDA Toolkit: in a clone, `make lesson-1` loads NVIDIA's compiler from PyPI,
# builds all that grading takes with it, and grades. /usr/local, where a toolkit is and what links to it, is hidden meanwhile, which
# takes root. It takes the network as well, so it is no part of `make test`, and where there is none it says so.
set -u
[ -n "${HIDDEN:-}" ] || exec unshare --mount sh -c 'mount -t tmpfs none /usr/local && HIDDEN=yes exec sh "$0"' "$0"
PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset CUDA_HOME NVCC
python3 -c 'import urllib.request; urllib.request.urlopen("https://pypi.org/simple/pip/", timeout=30)' 2>/dev/null || {
    echo 'fresh: NOT TESTED, as PyPI cannot be reached: what make lesson-1 does on a machine without a CUDA Toolkit'
    exit 0
}
here=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git -c advice.detachedHead=false clone --quiet . "$scratch/clone" && cd "$scratch/clone" || exit 1

# grade WHAT IT SHOULD SAY
grade() {
    make --jobs="$(nproc)" lesson-1 >"$scratch/says" 2>&1
    grep -q "^$1" "$scratch/says" || {
        echo "fresh: make lesson-1 does not say '$1':"
        tail -n 20 "$scratch/says"
        exit 1
    }
}
grade 'TODO    lesson 1'
cp solutions/01-first-kernel.cu exercises
grade 'PASS    lesson 1'

# What was compiled is handed on where nothing is yet, as in CI, where the sources are the same: it takes a minute. What was
# made from that toolkit's own library is not.
cd "$here" || exit 1
if [ ! -e build/objects ] && [ -z "$(git status --porcelain)" ]; then
    mv "$scratch/clone/build/objects" build/objects
    (cd build/objects/simulator/client && rm -f exported exports.map errors.inc stubs.*)
fi
echo 'fresh: 2 passed, 0 failed'
