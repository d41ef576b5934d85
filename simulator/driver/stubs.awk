# Writes the functions of the driver's API that our own objects do not define: each reports its name and fails. With -v errors=1
# it writes the table of CUresult's codes and names instead.
# usage: cc -E -P -D__CUDA_API_VERSION_INTERNAL cuda.h | awk -f stubs.awk OURS -
#        cc -E -P cuda.h | awk -v errors=1 -f stubs.awk
# where OURS is the output of nm --defined-only for our objects. The macro has cuda.h declare every version of a function.

BEGIN { if (!errors) print "int driver_unsupported(const char *call, const void *caller);" }

errors {
    if ($1 ~ /^CUDA_(SUCCESS|ERROR_[A-Z0-9_]*)$/ && $2 == "=") print "{ " $3 + 0 ", \"" $1 "\" },"
    next
}

FNR == NR { if ($2 == "T") ours[$3] = 1; next }

# A declaration: `CUresult cuMemAlloc_v2(`, perhaps on two lines.
match($0, /(^|[^A-Za-z0-9_])cu[A-Z][A-Za-z0-9_]*\(/) {
    name = substr($0, RSTART, RLENGTH - 1)
    sub(/.*[^A-Za-z0-9_]/, "", name)
    if (name in ours) next
    ours[name] = 1
    written = name # in the program, for which cuda.h defines it as that of a version
    sub(/(_v[0-9]+)?(_pt[ds]s?z?)?$/, "", written)
    print "int " name "(void);"
    print "__attribute__((visibility(\"default\"))) int " name "(void)"
    print "{ return driver_unsupported(\"" written "\", __builtin_return_address(0)); }"
}
