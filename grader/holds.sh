# For tests, read with `.`: counts in $passed and $failed.

# needs PROGRAM...: ends the suite where one of these programs of build/grader is not there, and says what to type.
needs() {
    lacks='' commands=''
    for program in "$@"; do
        [ -x "build/grader/$program" ] || lacks=yes
        case $program in
        [0-9]*) number=${program%%-*} commands="$commands ready-${number#0}" ;;
        *) commands="$commands build/grader/$program" ;;
        esac
    done
    [ -z "$lacks" ] || { echo "$(basename "$0" .sh): type make$commands first"; exit 1; }
}

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
