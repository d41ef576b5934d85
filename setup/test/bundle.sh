#!/bin/sh
# Tests the bundle: in a folder elsewhere, with nothing of this tree in the environment, it grades as the tree does,
# and its programs take every library but the C library's from it.
set -u
folder=$(mktemp -d)
says=$(mktemp)
trap 'rm -rf "$folder" "$says"' EXIT
passed=0 failed=0

count() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "the bundle: $1"
        cat "$says"
    fi
}

sh setup/bundle.sh "$folder/bundle" build/simulator/device >"$says" 2>&1
count 'is not made' $?
for solution in solutions/*.cu; do      # what a student has in exercises/ is not what is tested
    awk -f solutions/strip.awk "$solution" >"$folder/bundle/exercises/${solution##*/}"
done
cuda=${CUDA_HOME:-$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")}
inside() {
    (cd "$folder/bundle" && env -i PATH="$cuda/bin:/usr/bin:/bin" HOME="$folder" NO_COLOR=1 DEVICE=simulator/run make -s "$@") \
        >"$says" 2>&1
}

inside solution-1 && grep -q '^PASS ' "$says"
count 'does not pass our own answer' $?
! inside lesson-5 && grep -q '^TODO ' "$says"
count 'does not name the first TODO' $?
inside hint-5 && grep -q '^HINT ' "$says"
count 'gives no hint' $?
inside progress && grep -q '^TODO  *5 ' "$says"
count 'does not know how far one is' $?
! inside read-5 && grep -q 'make read-5 where' "$says"
count 'does not say where the text is' $?
! inside lesson-77 && grep -q 'There is no lesson 77' "$says"
count 'does not know what it has not' $?

whole() { for attack in grader/attacks/*/*; do sh grader/wrong.sh "$attack"; done; }
whole >"$folder/here" 2>&1
(cd "$folder/bundle" && whole) >"$folder/there" 2>&1
diff "$folder/here" "$folder/there" | head -n 5 >"$says"
[ -s "$folder/here" ] && [ ! -s "$says" ]
count 'lacks what an attack includes' $?

# A class, in the sandbox that the bundle brings: the machine has none on its PATH. Its library of archives cannot be loaded, so that
# the bundle's must be, which is in a folder that the sandbox has to show.
mkdir -p "$folder/class/Ada" "$folder/bare" "$folder/grades"
cp solutions/01-first-kernel.cu solutions/08-reduction.cu "$folder/class/Ada"
(cd solutions && zip -q "$folder/class/Bo.zip" 01-first-kernel.cu)
echo 'variants = ( "08-reduction" );' >"$folder/grades/class.cfg"
chmod 755 "$folder"
for tool in /usr/bin/* /bin/*; do
    [ "${tool##*/}" = bwrap ] || ln -s "$tool" "$folder/bare/" 2>/dev/null
done
(cd "$folder/bundle" && bwrap --dev-bind / / --ro-bind /dev/null "$(realpath /usr/lib/*/libarchive.so.13)" \
    env -i PATH="$cuda/bin:$folder/bare" HOME="$folder" CUDA_HOME="$cuda" make -s grade SUBMISSIONS="$folder/class" GRADES="$folder/grades") >"$says" 2>&1
grep -q '^Ada,01-first-kernel,PASS,2,10,,,yes,' "$folder/grades/gradebook.csv"
count 'does not grade a class in its own sandbox' $?
grep -q '^Bo,01-first-kernel,PASS,2,10,,,yes,' "$folder/grades/gradebook.csv"
count 'does not unpack an archive' $?
grep -qE '^Ada,08-reduction,WRONG,.*,[a-z]+-[0-9]+-[0-9a-f]{4},$' "$folder/grades/gradebook.csv"
count "does not grade a class's own variant" $?
[ -x "$folder/bundle/build/bin/bwrap" ]
count 'lacks bubblewrap' $?

# The same command as here, with the same kernels, compiled there.
inside -n accuracy && grep -q 'sh profiles/accuracy.sh' "$says" &&
    [ "$(grep -c -e '=\[compute_90,sm_90\] .* -o build/accuracy/' "$says")" -eq "$(ls profiles/accuracy/kernels/*.cu | wc -l)" ]
count 'does not compare the device with a GPU as the tree does' $?
inside -n record-5 && grep -q 'sh profiles/record.sh 05-transpose' "$says" && [ -f "$folder/bundle/profiles/record.sh" ]
count 'does not record results as the tree does' $?
[ "$(cd grader/lessons && ls *.peer.cu)" = "$(cd "$folder/bundle/grader/lessons" && ls *.peer.cu)" ]
count 'lacks peers' $?

(cd "$folder/bundle" && sh simulator/run --version) >"$says" 2>&1
[ "$(cat "$says")" = "Warpwise $(sh setup/version.sh)" ]
count 'does not say its version' $?

{ LD_LIBRARY_PATH=$folder/bundle/build/lib ldd "$folder/bundle/build/bin/bwrap"    # which build/grader/sandbox sets
ldd "$folder"/bundle/build/grader/[0-9]* "$folder"/bundle/build/grader/[a-z]*[!o] "$folder/bundle/build/profiles/accuracy" "$folder/bundle/build/simulator/device"; } | grep '=> /' |
    grep -v -e "$folder" -e '/libc\.so' -e '/libm\.so' -e '/libresolv\.so' -e '/libpthread\.so' -e '/libdl\.so' >"$says"
[ ! -s "$says" ]
count 'takes libraries from this machine' $?

echo "the bundle: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
