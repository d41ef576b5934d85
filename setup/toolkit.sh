#!/bin/sh
# Installs NVIDIA's CUDA compiler into a folder, for machines that have none: setup/toolkit.sh build/cuda
#
# It comes as Python wheels, which toolkit.txt pins by version and hash. pip unpacks them and nothing more: no root,
# no driver, nothing outside the folder. The folder then looks as an installed toolkit does, and is there whole or
# not at all.
set -eu
folder=$1
here=$(dirname "$0")
new=$folder.new
log=$folder.log

refuse() {
    tail -n 5 "$log"
    echo "That failed (all of it: $log). Once the network is there, type the same again; or"
    echo "install the CUDA Toolkit 13 (developer.nvidia.com/cuda-downloads)."
    exit 1
}

rm -rf "$new"
mkdir -p "$new"
echo "Installing NVIDIA's CUDA compiler into $folder (once; 160 MB to load)"
pip3 install --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --requirement "$here/toolkit.txt" --target "$new/wheels" >"$log" 2>&1 || refuse

# The wheels share one folder. What they lack are the names by which a linker and a Makefile look for libraries.
mv "$new"/wheels/nvidia/cu13 "$new/toolkit"
ln -s lib "$new/toolkit/lib64"
ln -s libcudart.so.13 "$new/toolkit/lib/libcudart.so"
mkdir -p "$new/toolkit/licences"
for licence in "$new"/wheels/*.dist-info/licenses/*; do
    part=${licence%/licenses/*}
    cp "$licence" "$new/toolkit/licences/$(basename "${part%.dist-info}").txt"
done

"$new/toolkit/bin/nvcc" --version >>"$log" 2>&1 || refuse
touch "$new/toolkit/installed"
rm -rf "$folder"
mv "$new/toolkit" "$folder"
rm -rf "$new"
