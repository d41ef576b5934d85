# For tests of a class, read with `.`: counts (grader/holds.sh), and a folder of the test's own, which every user can read.
# shellcheck shell=sh disable=SC2034
. grader/holds.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
class=$scratch/class grades=$scratch/grades passed=0 failed=0

# refused COMMAND...: it fails. What it says is in $scratch/said.
refused() { ! "$@" >"$scratch/said" 2>&1; }

# What others than its owner can read of the grades, but for what the test has written, what is handed out, and the sealed files,
# which another user compiles where there are no namespaces: they are read by who knows the hash.
others_can() {
    find "$grades" ! -name class.cfg ! -name groups.csv ! -path "$grades/variants/*.cu" ! -path "$grades/*/exercises/*.cu" -perm /066
}

finish() {
    echo "$(basename "$0" .sh): $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
