#!/bin/sh
# `make leftovers`, on a machine with a GPU: what a program finds in the GPU's memory of the program before it, which ended, or was
# killed, without freeing it (leftovers.cu). Writes profiles/results/MACHINE/leftovers.txt, which is committed, and prints it.
set -u
machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | tr 'A-Z ' 'a-z-')
[ -n "$machine" ] || { echo 'There is no GPU here. Type: make doctor'; exit 1; }
mkdir -p "profiles/results/$machine" build/profiles
for end in leave kill; do
    build/profiles/leftovers $end
    status=$?
    [ $end$status = leave0 ] || [ $end$status = kill137 ] || exit 1
    build/profiles/leftovers find || exit
done >build/profiles/leftovers.txt 2>&1
status=$?
cat build/profiles/leftovers.txt
[ $status -eq 0 ] && grep " bytes" build/profiles/leftovers.txt >"profiles/results/$machine/leftovers.txt"
