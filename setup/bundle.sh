#!/bin/sh
# Puts what grading takes into one folder, to be carried to a GPU machine where nothing can be installed:
#
#     setup/bundle.sh FOLDER [DEVICE]        (make bundle)
#
# DEVICE is the simulated device's program, build/portable/simulator/device unless told.
# The programs look for their libraries in build/lib, beside them ($ORIGIN); the C library alone is the machine's
# own, and must be no older than the one here.
set -eu
to=$1
device=${2:-build/portable/simulator/device}
rm -rf "$to"
mkdir -p "$to/build/grader" "$to/build/profiles" "$to/build/simulator/lib" "$to/build/lib" "$to/grader/lessons" "$to/simulator"

cp setup/bundle.mk "$to/Makefile"
cp -r exercises solutions profiles "$to/"
cp LICENSE CHANGELOG.md "$to/"
mkdir "$to/setup"
cp setup/common.mk setup/version.sh "$to/setup/"
sh setup/version.sh >"$to/VERSION"    # with its commit, which the bundle does not know
cp -r grader/accuracy.sh grader/copy.peer.cu grader/attacks.sh grader/attacks grader/wrong.sh "$to/grader/"
cp --parents grader/protocol.h simulator/wire/wire.h simulator/wire/wire.def simulator/base/written_by.h "$to/"    # attacks include them
cp -r lessons "$to/"
cp build/grader/study build/grader/class build/grader/sandbox "$to/build/grader/"
cp build/profiles/accuracy "$to/build/profiles/"
cp -r grader/pictures grader/variants "$to/grader/"
cp grader/lessons/*.h "$to/grader/lessons/"
for peer in grader/lessons/*.peer.cu; do [ ! -f "$peer" ] || cp "$peer" "$to/grader/lessons/"; done
cp simulator/run "$to/simulator/"
for lesson in lessons/[0-9][0-9]-*.md; do
    name=$(basename "$lesson" .md)
    cp "build/grader/$name" "$to/build/grader/"
done
cp build/grader/worker.o "$to/build/grader/"
cp "$device" "$to/build/simulator/"
cp build/simulator/lib/libcudart.so.13 build/simulator/lib/libcuda.so.1 "$to/build/simulator/lib/"
[ ! -f build/simulator/lib/libnccl.so.2 ] || cp build/simulator/lib/libnccl.so.2 "$to/build/simulator/lib/"

# What a class is graded in. build/grader/sandbox looks for it there first.
bwrap=$(command -v bwrap) || bwrap=
if [ -n "$bwrap" ]; then
    mkdir "$to/build/bin"
    cp -L "$bwrap" "$to/build/bin/bwrap"
else
    echo 'bubblewrap (bwrap) is not on this machine, so it is not in the bundle: make grade needs one on the other machine.'
fi

# All that these load (worker.o is no program), but the C library's own parts and the kernel's.
ldd "$to"/build/grader/[0-9]* "$to"/build/grader/[a-z]*[!o] "$to/build/profiles/accuracy" "$to/build/simulator/device" $bwrap |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(ld-linux[^/]*|libc|libm|libdl|librt|libpthread|libresolv|libutil)\.so[^/]*$' |
    while read -r library; do cp -L "$library" "$to/build/lib/"; done

# Submissions are linked with this one, on the other machine.
for form in libffi_pic.a libffi.a; do
    static=$(gcc -print-file-name=$form)
    [ "$static" = "$form" ] || { cp "$static" "$to/build/lib/libffi.a"; break; }
done
[ -f "$to/build/lib/libffi.a" ] || { echo 'libffi.a is missing: it comes with libffi-dev'; exit 1; }

echo "$to: $(du -sh "$to" | cut -f1). Copy it to the GPU machine, and type there: make solution-1"
