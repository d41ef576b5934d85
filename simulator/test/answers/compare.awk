# awk -f compare.awk departures.txt h200.txt the device's answers...: prints what differs, and the counts.
# A departure is "group: question", on a line of its own.

# "group: question", of a line that goes on with ": answer"
function question_of(line,    group) {
    group = index(line, ": ") + 2
    return substr(line, 1, group + index(substr(line, group), ": ") - 2)
}

FILENAME ~ /departures/ { if (!/^#/ && NF) departs[$0] = 1; next }
/^#/ { next }
{
    # A question that a group asks twice is two.
    recorded = FILENAME ~ /h200/
    name = question_of($0)
    nth = ++asked[recorded, name]
    key = name SUBSEP nth
    answer = substr($0, length(name) + 3)
    name_of[key] = name
    if (recorded) due[key] = answer
    else got[key] = answer
    if (!(key in listed)) { listed[key] = 1; order[++count] = key }
}

END {
    for (i = 1; i <= count; i++) {
        key = order[i]
        name = name_of[key]
        if ((key in due) && (key in got) && due[key] == got[key]) { passed++; continue }
        if (name in departs) { differs[name] = 1; passed++; continue }
        failed++
        print name ": " (key in due ? "an H200 answered " due[key] : "no H200 was asked") ", the simulated device " \
            (key in got ? got[key] : "nothing")
    }
    for (name in departs)
        if (!(name in differs)) { failed++; print name ": in departures.txt, but the answers are the same" }
    printf "%d passed, %d failed\n", passed, failed
    exit failed || !passed
}
