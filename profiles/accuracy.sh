#!/bin/sh
# `make accuracy`: the simulated device beside a GPU. With a GPU and ncu here, its kernels are measured first, and the
# record is kept, profiles/accuracy/DEVICE.json; without, the record that is there of the device that PROFILE names is
# taken. Then today's simulated device runs the same programs, and both stand in profiles/accuracy/DEVICE.md. Where ncu
# is, the lessons' solutions follow, counter by counter (grader/accuracy.sh).
set -eu
compare=build/profiles/accuracy
profile=profiles/devices/${PROFILE:-h200}.cfg
name=$(sed -n 's/^name = "\(.*\)";.*/\1/p' "$profile")

# The GPU that a program takes unless told: the first.
first=${CUDA_VISIBLE_DEVICES:-0}
if gpu=$(nvidia-smi -i "${first%%,*}" --query-gpu=name --format=csv,noheader 2>&1) && ncu --version >/dev/null 2>&1; then
    if [ "$gpu" != "$name" ]; then
        echo "This GPU is an $gpu, and $profile an $name. Type: make device-profile, then make accuracy PROFILE=..."
        exit 1
    fi
    measure=yes
else
    measure=
fi
record=profiles/accuracy/$(echo "$name" | tr 'A-Z ' 'a-z-')
if [ -n "$measure" ]; then
    $compare measure "$record.json"
elif [ ! -f "$record.json" ]; then
    echo "Nothing was measured on an $name yet: that takes one, and ncu (Nsight Compute)."
    exit 1
fi
errors=simulator/model/errors.def
$compare compare "$record.json" "$record.md" "$errors"
echo "$record.md: the table; $errors: what --profile says of the predicted time"
[ -z "$measure" ] || exec sh grader/accuracy.sh
