#!/bin/sh
# What the texts say of the versions of a lesson's solution beyond the grader's verdict: the clock's word on other sizes and
# shapes that were tried, and what ncu counts of a launch. On a machine with a GPU, in the repository's root:
#
#     sh profiles/figures/tried.sh 07-stencil >profiles/figures/07-stencil-tried.txt
#     sh profiles/figures/tried.sh 15-tiled-matmul >profiles/figures/15-tiled-matmul-tried.txt
#     sh profiles/figures/tried.sh 17-tensor-cores >profiles/figures/17-tensor-cores-tried.txt
#     sh profiles/figures/tried.sh 21-fusion >profiles/figures/21-fusion-tried.txt
set -eu
lesson=$1
number=$(expr "$lesson" : '0*\([0-9]*\)-')
tree=${BUILD:-build}/tried/$lesson
mkdir -p "$tree"
rm -f "$tree"/*
count=0 building=

changed() {
    ! cmp -s "$1" "solutions/$lesson.cu" && return
    echo "solutions/$lesson.cu: nothing to change by sed's words for $(cat "$tree/$count.name")" >&2
    exit 1
}

# build NAME VERSION WORDS: the solution's version, after sed's words, which must change something. All at the same time.
build() {
    count=$((count + 1))
    echo "$1" >"$tree/$count.name"
    sed "$3" "solutions/$lesson.cu" >"$tree/$count.cu"
    [ ! "$3" ] || changed "$tree/$count.cu"
    nvcc -std=c++17 -O3 -arch=sm_90 -Igrader/lessons -DVERSION="$2" -DLESSON="$number" -include "$tree/$count.cu" \
        -o "$tree/$count" profiles/figures/tried.cu &
    building="$building $!"
}

case $lesson in
07-stencil)
    counters='lts__t_sectors_op_read.sum smsp__inst_executed.sum'
    for version in 1 2 3 4; do build "version $version" $version ''; done
    for rows in 1 2 4 6 16; do build "version 4 with $rows rows" 4 "s/enum { ROWS = 8,/enum { ROWS = $rows,/"; done ;;
15-tiled-matmul)
    counters='l1tex__data_pipe_lsu_wavefronts_mem_shared.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed
        sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed
        launch__registers_per_thread launch__occupancy_limit_registers'
    for version in 1 2 3 4; do build "version $version" $version ''; done
    build 'version 4, not padded' 4 's/a_tile\[8\]\[128 + 4\]/a_tile[8][128]/'
    build 'version 4, lane % 8' 4 's|lane / 16 \* 2 + lane % 2|lane / 8|; s|lane % 16 / 2|lane % 8|'
    build 'version 4, nothing early' 4 '/next turn.s are on their way/,/b_four = load_four(b, k, n, next/d
        s|^        a_tile\[a_col + 0\]|        a_four = load_four(a, m, k, top + a_row, first + a_col);\n        b_four = load_four(b, k, n, first + b_row, left + b_col);\n&|' ;;
17-tensor-cores)
    counters='l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed
        sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed
        sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed sm__warps_active.avg.per_cycle_active
        launch__registers_per_thread launch__occupancy_limit_registers'
    for version in 1 2 3 4; do build "version $version" $version ''; done ;;
21-fusion)
    counters=
    for version in 1 2 3 4; do build "version $version" $version ''; done
    for vectors in 1 4 8; do build "version 4, VECTORS=$vectors" 4 "s/#define VECTORS 2/#define VECTORS $vectors/"; done
    build 'version 4, loads beside the arithmetic' 4 '/All loads come first/,/^    }/d
        s|^            float4 b = bias\[v\];|            h[k] = x[row + v];\n            r[k] = residual[row + v];\n&|' ;;
esac
for process in $building; do wait "$process"; done

# Names of counters differ from one kind of GPU to the next: those that this one has.
listed=
[ ! "$counters" ] || ncu --query-metrics >"$tree/known"
for counter in $counters; do
    case $counter in launch__*) ;; *) grep -qw "^${counter%%.*}" "$tree/known" || continue ;; esac
    listed=$listed,$counter
done

echo "# Written by profiles/figures/tried.sh on $(date -u +%F), on an $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), by $(ncu --version | sed -n 's/^Version \([0-9.]*\).*/ncu \1/p')"
echo "# version; what was measured, the median of 15, or what ncu counted of one call; value"
for at in $(seq 1 $count); do
    name=$(cat "$tree/$at.name")
    "$tree/$at" "$name"
    [ "$listed" ] || continue
    ncu --clock-control none --kernel-name 'regex:convolve|matmul|product' --launch-count 1 --csv --print-units base \
        --metrics "${listed#,}" --log-file "$tree/ncu" "$tree/$at" "$name" once
    awk -v name="$name" -F '","' '{ for (i = 8; i < NF - 1; i++) if ($i ~ /^(l1tex|lts|smsp|launch|sm)__/) {
        value = $(i + 2); gsub(/[",]/, "", value); print name "\t" $i "\t" value; break } }' "$tree/ncu"
done
