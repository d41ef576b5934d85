# Writes the functions of the toolkit's runtime that our own objects do not define: each reports its name and returns
# cudaErrorNotSupported. With -v map=1 it writes the version script that exports all functions of the toolkit's runtime.
# usage: nm -D --defined-only TOOLKIT | awk -f stubs.awk [-v map=1] OURS -
# where OURS is the output of nm --defined-only for our objects.

BEGIN {
    if (map) print "libcudart.so.13 {\nglobal:"
    else print "int client_unsupported(const char *call);"
}

# Functions that stand in front of the C library's have its version.
FNR == NR { if ($2 == "T") ours[$3] = 1; if (split($3, part, "@@") == 2) versions[part[2]] = 1; next }

$2 == "T" {
    sub(/@.*/, "", $3)
    if (map) print "    " $3 ";"
    else if (!($3 in ours)) {
        print "int " $3 "(void);"
        print "__attribute__((visibility(\"default\"))) int " $3 "(void)"
        print "{ return client_unsupported(\"" $3 "\"); }"
    }
}

END {
    if (map) print "local: *;\n};"
    if (map) for (version in versions) print version " { };"
}
