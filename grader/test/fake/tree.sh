# Makes a project's folder whose only lesson is 99-fake, with a simulated device, a toolkit, a driver and a machine with two GPUs
# that are fakes, and sets $tree to its path: for tests, read with `.` in the project's root.
here=grader/test
tree=$PWD/build/test/fake.$$
machine=$tree/machine
mkdir -p "$tree/build/grader" "$tree/grader/lessons" "$tree/grader/class" "$tree/profiles/lessons" "$tree/lessons" "$tree/exercises" \
    "$tree/simulator" "$tree/cuda/bin" "$machine/driver" "$machine/dev" "$machine/proc/driver/nvidia/gpus"
ln -s ../simulator "$tree/cuda/lib64"
ln -s "${CUDA_HOME:-/usr/local/cuda}/include" "$tree/cuda/include"
cp VERSION "$tree/"
touch "$tree/lessons/99-fake.md"
cp $here/fake/nvcc "$tree/cuda/bin/"
cp grader/class/slurm.sh "$tree/grader/class/"
cp $here/fake/99-fake.h "$tree/grader/lessons/"
cp $here/fake/copy.peer.cu "$tree/grader/"
cp $here/fake/99-fake.peer.cu "$tree/grader/lessons/"
cp $here/fake/99-fake.cfg "$tree/profiles/lessons/"
cp build/grader/class "$tree/build/grader/"

# What a fake device and its runtime tell each other goes through the sandbox; a real one's needs no words.
cat >"$tree/build/grader/sandbox" <<SANDBOX
#!/bin/sh
[ "\$1" = --check ] && exec "$PWD/build/grader/sandbox" --check
exec "$PWD/build/grader/sandbox" --read "$tree/simulator" --keep FAKE_MEMORY --keep FAKE_DEVICE "\$@"
SANDBOX
chmod +x "$tree/build/grader/sandbox"

for n in 0 1; do
    mkdir "$machine/proc/driver/nvidia/gpus/0000:a$n:00.0"
    printf 'Model: \t\t Fake GPU\nDevice Minor: \t %s\n' $n >"$machine/proc/driver/nvidia/gpus/0000:a$n:00.0/information"
done
touch "$machine/dev/nvidiactl" "$machine/dev/nvidia-uvm" "$machine/dev/nvidia-uvm-tools" "$machine/dev/nvidia0" "$machine/dev/nvidia1"

flags="-std=gnu17 -O1 -isystem ${CUDA_HOME:-/usr/local/cuda}/include"
# shellcheck disable=SC2086,SC2046
gcc $flags -o "$tree/simulator/run" $here/fake/device.c &&
gcc $flags -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$machine/driver/libcuda.so.1" $here/fake/cuda.c &&
gcc $flags -shared -fPIC -Wl,-soname,libcudart.so.13 -o "$tree/simulator/libcudart.so.13" $here/fake/cudart.c &&
gcc $flags -c -o "$tree/worker.o" grader/worker.c &&
ld -r -T grader/worker.ld -o "$tree/build/grader/worker.o" "$tree/worker.o" &&
gcc $flags -Igrader -o "$tree/build/grader/99-fake" $here/fake/99-fake.c $here/fake/stopwatch.c \
    $(ls grader/*.c | grep -v -e worker.c -e stopwatch.c) -lcriterion -ljansson -lconfig -lpng -lz -lm || exit 1
