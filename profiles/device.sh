#!/bin/sh
# `make device-profile`: measures the GPU of this machine and writes its profile, profiles/devices/NAME.cfg; the NAME is
# made from the GPU's, "h200", unless told. `make lesson-8 PROFILE=NAME` then imitates it.
set -eu
name=${1:-$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr 'A-Z ' 'a-z-' | sed 's/^nvidia-//')}
[ -n "$name" ] || { echo 'There is no GPU here.'; exit 1; }
profile=profiles/devices/$name.cfg
build/profiles/measure >build/profiles/measured.cfg
mv build/profiles/measured.cfg "$profile"
echo "$profile: $(grep -c ' = ' "$profile") figures"
