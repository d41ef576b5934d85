# Writes the functions of NCCL that our own objects do not define: each prints its name and fails. Every function ncclX
# has a second name, pncclX, by which profilers call it. With -v names=1 the output is the linker's options that give our
# own functions this second name.
# usage: awk -f stubs.awk OURS nccl.h nccl_device/*.h, where OURS is the output of nm --defined-only for our objects.

BEGIN {
    if (!names) {
        print "#include <stdio.h>\n#define EXPORT __attribute__((visibility(\"default\")))\nenum { INVALID_USAGE = 5 };\n"
        print "static int unsupported(const char *call)\n{"
        print "    fprintf(stderr, \"nccl: the simulated NCCL has no %s\\n\", call);\n    return INVALID_USAGE;\n}\n"
    }
}

FNR == NR { if ($2 == "T") ours[$3] = 1; next }

# A declaration: any in nccl.h, and those of host functions in the device headers.
/^ *(const char *\*|ncclResult_t|void) *nccl[A-Za-z0-9]*\(/ || /^NCCL_EXTERN_C __host__ .*nccl[A-Za-z0-9]*\(/ {
    if (!match($0, /nccl[A-Za-z0-9]+\(/)) next
    name = substr($0, RSTART, RLENGTH - 1)
    if (name in seen) next
    seen[name] = 1
    if (name in ours) {
        if (names) print "-Wl,--defsym,p" name "=" name
    } else if (!names) {
        print "EXPORT int " name "(void) { return unsupported(\"" name "\"); }"
        print "EXPORT int p" name "(void) { return unsupported(\"" name "\"); }"
    }
}

# A function that NCCL's library exports, but no header declares.
END { if (!names) print "EXPORT int ncclResetDebugInitInternal(void) { return unsupported(\"ncclResetDebugInitInternal\"); }" }
