# Makes the skeleton that students edit from a solution:
#
#     awk -f solutions/strip.awk solutions/05-transpose.cu > exercises/05-transpose.cu
#
# The solution marks itself, in comments on lines of their own:
#
#     //> name                 opens a region: kept; the book quotes it by name
#     //> name TODO: text      opens a blank: the skeleton has `// TODO: text` in its place
#     //> name TODO:           opens a blank of which the skeleton has no trace
#     //> name BUG:            opens a blank in which the skeleton has a mistake, and nothing says so
#     //| code                 in a blank: code that the skeleton alone has
#     //< name                 closes the region or blank that was opened last
#
# With -v fill=1 the blanks that a student sees are filled in and mistakes mended: what a student has who did as the
# solution does.
#
# Regions nest; a blank may hold regions, of which the skeleton has no trace, but no blanks; a name is used once.
# A file that breaks a rule yields file:line and the rule on standard error, status 1, and no skeleton. Where blanks
# leave nothing behind, empty lines would pile up: of several in a row the skeleton keeps one.

function fail(line, message) {
    printf "%s:%d: %s\n", FILENAME, line, message > "/dev/stderr"
    failed = 1
    exit 1
}

function keep(text) {
    if (text != "" || kept[count] != "")
        kept[++count] = text
}

function indent(text) {
    match(text, /^[ \t]*/)
    return substr(text, 1, RLENGTH)
}

function open_marker(name, todo) {
    if (name !~ /^[a-z0-9][a-z0-9_-]*$/)
        fail(FNR, "a marker needs a name in lower case: //> name")
    if (blank && todo != "")
        fail(FNR, "`" name "` opens inside the blank `" blank "`: a blank holds no other blank")
    if (name in opened)
        fail(FNR, "`" name "` was opened before, at line " opened[name])
    opened[name] = FNR
    stack[++depth] = name
    if (todo == "")
        return
    blank = name
    filled = fill && todo != "TODO:"
    if (todo ~ /^TODO: / && !filled)
        keep(indent($0) "// " todo)
}

function close_marker(name) {
    if (name == "")
        fail(FNR, "a closing marker names what it closes: //< name")
    if (depth == 0)
        fail(FNR, "`" name "` closes, but nothing is open")
    if (stack[depth] != name)
        fail(FNR, "`" name "` closes, but `" stack[depth] "` of line " opened[stack[depth]] \
                  " is still open")
    depth--
    if (name == blank)
        blank = filled = ""
}

/^[ \t]*\/\/>/ {
    text = $0
    sub(/^[ \t]*\/\/>[ \t]*/, "", text)
    sub(/[ \t]+$/, "", text)
    name = text
    sub(/[ \t].*/, "", name)
    todo = substr(text, length(name) + 1)
    sub(/^[ \t]+/, "", todo)
    if (todo != "" && todo !~ /^TODO:/ && todo != "BUG:")
        fail(FNR, "after the name only `TODO: text` or `BUG:` may follow")
    open_marker(name, todo)
    next
}

/^[ \t]*\/\/</ {
    close_marker(NF == 2 ? $2 : "")
    next
}

/^[ \t]*\/\/\|/ {
    if (!blank)
        fail(FNR, "//| is for blanks only: code that the skeleton alone has")
    if (filled)
        next
    text = $0
    sub(/^[ \t]*\/\/\| ?/, "", text)
    keep(text == "" ? "" : indent($0) text)
    next
}

/\/\/[<>|]/ {
    fail(FNR, "a marker stands on a line of its own")
}

!blank || filled {
    keep($0)
}

END {
    if (!failed && depth)
        fail(opened[stack[depth]], "`" stack[depth] "` is never closed")
    if (failed)
        exit 1
    for (i = 1; i <= count; i++)
        print kept[i]
}
