# For tests, read with `.`: counts in $passed and $failed.

# holds WORDS COMMAND...: if the command fails, says the words, and shows the file $shown, if that is set.
holds() {
    words=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "$words"
        [ -z "${shown:-}" ] || sed 's/^/    /' "$shown"
        failed=$((failed + 1))
    fi
}
