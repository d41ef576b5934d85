# Writes what of the toolkit's runtime our own objects leave out: functions that say their name and
# return cudaErrorNotSupported; or, with -v map=1, the version script that exports all of it.
# usage: nm -D --defined-only TOOLKIT | awk -f stubs.awk [-v map=1] OURS -
# where OURS is what nm --defined-only says of our objects.

BEGIN {
    if (map) print "libcudart.so.13 {\nglobal:"
    else print "int client_unsupported(const char *call);"
}

FNR == NR { if ($2 == "T") ours[$3] = 1; next }

$2 == "T" {
    sub(/@.*/, "", $3)
    if (map) print "    " $3 ";"
    else if (!($3 in ours)) {
        print "int " $3 "(void);"
        print "__attribute__((visibility(\"default\"))) int " $3 "(void)"
        print "{ return client_unsupported(\"" $3 "\"); }"
    }
}

END { if (map) print "local: *;\n};" }
