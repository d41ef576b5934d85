#!/bin/sh
# Tests setup/version.sh and `simulator/run --version`: the version alone, and in a clone the commit with it.
set -u
passed=0 failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/setup" "$scratch/simulator"
cp setup/version.sh "$scratch/setup"
cp simulator/run "$scratch/simulator"
echo 3.1.4 >"$scratch/VERSION"

# says WORDS: --version prints them, wherever it is called from, and needs no device.
says() {
    if [ "$(cd / && sh "$scratch/simulator/run" --version 2>&1)" = "$1" ]; then
        passed=$((passed + 1))
    else
        echo "should say \"$1\", but says \"$(sh "$scratch/simulator/run" --version 2>&1)\""
        failed=$((failed + 1))
    fi
}

says 'Warpwise 3.1.4'
git() { command git -C "$scratch" -c user.name=Test -c user.email=test@localhost "$@" >/dev/null; }
git init --quiet && git commit --quiet --allow-empty --message first
says "Warpwise 3.1.4 ($(command git -C "$scratch" rev-parse --short HEAD))"

echo "version: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
