# Replaces regions of a solution, for a submission that makes a mistake:
#
#     awk -f solutions/edit.awk grader/wrong/05-transpose/wrong-pitch.edit solutions/05-transpose.cu
#
# An edit begins with comments that say what is expected of the submission, and has nothing else but regions of the
# solution, each with the text that it is to have:
#
#     // expect: BOUNDS                    the verdict
#     // at: out[out_row * cols +          a part of the line that the verdict names; as often as there are lines
#     // at fours: tile[threadIdx.x]       ... in the region `fours` (where other regions have that text too)
#     // says: words                       what the student must read
#     // version: 4                        the version of the solution; without it, it is the completed exercise
#     // Why it is wrong.
#
#     //> store-tile
#     ...
#     //< store-tile
#
# Printed are the comments and the solution with its markers, for grader/wrong.sh; ` // <- BOUNDS` ends each line
# that the verdict names. Without a solution the submission is a whole file, whose lines alone are marked so. What does not
# fit yields file:line and the reason on standard error, status 1, and nothing else.

function fail(line, message) {
    printf "%s:%d: %s\n", edit, line, message > "/dev/stderr"
    failed = 1
    exit 1
}

# The name in a marker: //> name TODO: text
function name_of(marker) {
    sub(/^[ \t]*\/\/[<>][ \t]*/, "", marker)
    sub(/[ \t].*/, "", marker)
    return marker
}

function put(text, named) {
    output[++count] = text
    can_be_named[count] = named
    within[count] = regions
}

# ---- The edit

function header(text) {
    put(text, 0)
    if (text ~ /^\/\/ expect: /)
        verdict = substr(text, 12)
    else if (text ~ /^\/\/ version: /)
        version = substr(text, 13)
    else if (match(text, /^\/\/ at( [a-z0-9_-]+)?: /)) {
        at_text[++ats] = substr(text, RLENGTH + 1)
        at_line[ats] = FNR
        at_region[ats] = substr(text, 7, RLENGTH - 8)
    }
}

function replacement(text) {
    if (text ~ /^[ \t]*\/\/>/) {
        if (inside != "")
            fail(FNR, "`" name_of(text) "` opens inside `" inside "`: a replacement holds no marker")
        inside = name_of(text)
        if (inside in opened)
            fail(FNR, "`" inside "` is replaced twice")
        opened[inside] = FNR
        new[inside] = ""
        replacements++
    } else if (text ~ /^[ \t]*\/\/</) {
        if (inside == "" || name_of(text) != inside)
            fail(FNR, "`" name_of(text) "` closes, but " (inside == "" ? "nothing" : "`" inside "`") " is open")
        inside = ""
    } else if (inside != "")
        new[inside] = new[inside] text "\n"
    else if (text != "")
        fail(FNR, "is in no region: an edit has comments first, and then regions of the solution")
}

function edit_ends() {
    if (inside != "")
        fail(opened[inside], "`" inside "` is never closed")
}

# ---- The solution

function open_region(text, name, lines, n, i) {
    name = name_of(text)
    if (replaced != "" && name in opened)
        fail(opened[name], "`" name "` is a part of `" replaced "`, which is replaced too")
    regions = regions " " name " "
    if (hidden == "" && version == "" && text ~ /TODO:$/)
        hidden = name
    if (replaced != "")
        return
    put(text, 0)
    if (!(name in opened))
        return
    if (hidden != "")
        fail(opened[name], "`" name "` is no part of the exercise: a line `// version: N` is missing")
    replaced = name
    old = ""
    n = split(new[name], lines, "\n")
    for (i = 1; i < n; i++)
        put(lines[i], 1)
}

function close_region(text, name) {
    name = name_of(text)
    if (name == replaced) {
        if (old == new[name])
            fail(opened[name], "`" name "` is replaced by what the solution has")
        found[name] = 1
        replaced = ""
    }
    if (replaced == "")
        put(text, 0)
    if (name == hidden)
        hidden = ""
    sub(" " name " $", "", regions)
}

function code(text) {
    if (version != "" && text ~ /^#define VERSION /) {
        versions = $3
        sub(/VERSION [0-9]+/, "VERSION " version, text)
    }
    if (replaced == "")
        put(text, hidden == "" && text !~ /^[ \t]*\/\/\|/)
    else if (text !~ /^[ \t]*\/\/\|/)
        old = old text "\n"
}

# ---- The lines that the verdict names

function mark(i, j, line, times) {
    times = 0
    for (j = 1; j <= count; j++)
        if (can_be_named[j] && index(output[j], at_text[i]) &&
            (at_region[i] == "" || index(within[j], " " at_region[i] " "))) {
            line = j
            times++
        }
    if (times != 1)
        fail(at_line[i], "`" at_text[i] "` is " (times ? "on " times " lines" : "nowhere"))
    output[line] = output[line] "  // <- " verdict
}

BEGIN {
    whole = ARGC == 2
}

FNR == 1 && NR > 1 {
    edit_ends()
    put("", 0)
}

NR == FNR {
    edit = FILENAME
    if (!body && /^\/\/( |$)/)
        header($0)
    else {
        body = 1
        if (whole)
            put($0, 1)
        else
            replacement($0)
    }
    next
}

/^[ \t]*\/\/>/ {
    open_region($0)
    next
}

/^[ \t]*\/\/</ {
    close_region($0)
    next
}

{
    code($0)
}

END {
    if (failed)
        exit 1
    if (NR == FNR)
        edit_ends()
    for (name in opened)
        if (!(name in found))
            fail(opened[name], "the solution has no region `" name "`")
    if (!whole && !replacements)
        fail(1, "an edit replaces a region at least")
    if (version != "" && !(version + 0 >= 1 && version + 0 <= versions + 0))
        fail(1, "the solution has no version " version)
    for (i = 1; i <= ats; i++)
        mark(i)
    for (i = 1; i <= count; i++)
        print output[i]
}
