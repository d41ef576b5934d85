#!/bin/sh
# What lesson 14 holds side by side: counters of its three launches, by the simulated device and by ncu on a GPU, and the time
# between two events, without ncu. From the repository's root, the second on a machine with a GPU and Nsight Compute:
#
#     sh profiles/figures/14-side-by-side.sh simulated >profiles/figures/14-simulated.txt
#     sh profiles/figures/14-side-by-side.sh gpu >profiles/figures/14-ncu.txt
set -eu
device=$1
tree=${BUILD:-build}/figures
name=14-side-by-side
mkdir -p "$tree"

counters='launch__registers_per_thread launch__occupancy_limit_registers launch__occupancy_limit_shared_mem
sm__maximum_warps_per_active_cycle_pct sm__warps_active.avg.pct_of_peak_sustained_active smsp__inst_executed.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum'
listed=$(echo $counters | tr ' ' ,)

# Of the fifth of the eight launches.
of_the_simulated() {
    simulator/run --profile --kernel calibrate --launches 5 "$tree/$name" "$1" >"$tree/said" 2>"$tree/profile"
    awk -v listed="$listed" '
        BEGIN { for (n = split(listed, name, ","); n; n--) wanted[name[n]] = 1 }
        $NF in wanted { gsub(/,/, ""); for (n = 1; $n !~ /^~?[0-9.]+$/;) n++; print $NF, $n }' "$tree/profile" "$tree/said"
    grep microseconds "$tree/said"
}
of_the_gpu() {
    ncu --clock-control none --kernel-name regex:calibrate --launch-skip 4 --launch-count 1 --csv --print-units base \
        --metrics "$listed" --log-file "$tree/ncu" "$tree/$name" "$1" >/dev/null
    awk -F '","' '{ for (i = 8; i < NF - 1; i++) if ($i ~ /^(l1tex|smsp|launch|sm)__/) {
        value = $(i + 2); gsub(/[",]/, "", value); print $i, value; break } }' "$tree/ncu"
    "$tree/$name" "$1"
}

# In words, for the launches that the lesson quotes.
in_words() {
    ncu --clock-control none --kernel-name regex:calibrate --launch-skip 4 --launch-count 1 --section Occupancy \
        --section WarpStateStats "$tree/$name" "$1" | grep -v '^==PROF==\|^microseconds' | sed "s/^/# version $1: /"
}

runtime=static
[ "$device" = gpu ] || runtime=shared
nvcc -std=c++17 -cudart $runtime -arch=sm_90 -Igrader/lessons -o "$tree/$name" "profiles/figures/$name.cu"

on="the simulated device"
[ "$device" != gpu ] || on="an $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), by $(ncu --version | sed -n 's/^Version \([0-9.]*\).*/ncu \1/p')"
echo "# Written by profiles/figures/$name.sh on $(date -u +%F), on $on"
echo "# version, counter of one launch or microseconds between two events, value"
for version in 1 2 3; do
    "of_the_$device" $version | sed "s/^/$version /"
done
[ "$device" != gpu ] || for version in 1 3; do in_words $version; done
