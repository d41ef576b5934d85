# Writes what of NCCL's functions our own objects leave out: they say their name and fail. Each function, ours or not, has
# a second name, pncclX beside ncclX, by which profilers call it: for ours, with -v names=1, the linker's options for that.
# usage: awk -f stubs.awk OURS nccl.h nccl_device/*.h, where OURS is what nm --defined-only says of our objects.

BEGIN {
    if (!names) {
        print "#include <stdio.h>\n#define EXPORT __attribute__((visibility(\"default\")))\nenum { INVALID_USAGE = 5 };\n"
        print "static int unsupported(const char *call)\n{"
        print "    fprintf(stderr, \"nccl: the simulated NCCL has no %s\\n\", call);\n    return INVALID_USAGE;\n}\n"
    }
}

FNR == NR { if ($2 == "T") ours[$3] = 1; next }

# A declaration: of nccl.h any, of the device headers what the host calls.
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

# What the library exports and no header declares.
END { if (!names) print "EXPORT int ncclResetDebugInitInternal(void) { return unsupported(\"ncclResetDebugInitInternal\"); }" }
