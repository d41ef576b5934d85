# The keys that C code gives to JSON objects, in json_pack() and in json_object_set(), a line each; for `make check`.

# The text of a call up to its closing bracket.
function call_at(text,    depth, n, c) {
    for (n = depth = 1; depth && n <= length(text); n++) {
        c = substr(text, n, 1)
        depth += (c == "(") - (c == ")")
    }
    return substr(text, 1, n - 1)
}

{ text = text $0 "\n" }

END {
    while (match(text, /json_(pack|object_set(_new)?)\(/)) {
        sets = substr(text, RSTART, RLENGTH) !~ /pack/
        text = substr(text, RSTART + RLENGTH)
        call = call_at(text)
        if (sets && match(call, /^[a-z_]+\(/))    # the object itself is what a call returns
            call = substr(call, RLENGTH + 1 + length(call_at(substr(call, RLENGTH + 1))))
        if (sets) sub(/^[^,]*,/, "", call)
        else sub(/^[ \n]*("[^"]*"[ \n]*)+/, "", call)
        n = split(call, part, "\"")
        if (sets && part[1] !~ /^[ \n]*$/) continue    # a name that is known when it runs
        for (i = 2; i <= (sets ? 2 : n); i += 2)
            if (part[i] ~ /^[a-z_]+$/) print part[i]
    }
}
