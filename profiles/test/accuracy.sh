#!/bin/sh
# Today's simulated device against what was measured on an H200: no bound of profiles/accuracy/bounds.cfg is exceeded, and
# every kernel is in the table. On a machine with several GPUs `make accuracy` measures the one that programs take. And what
# ncu says in several runs becomes a record, and a table.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

build/profiles/accuracy compare profiles/accuracy/nvidia-h200.json "$scratch/table.md" "$scratch/errors.def" >"$scratch/said" 2>&1
status=$?
cat "$scratch/said"
if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

if [ "$(grep -c '^| [a-z0-9]* | [a-z_0-9]* | *[a-z ]*|' "$scratch/table.md")" -ge 108 ]; then
    passed=$((passed + 1))
else
    echo 'the table lacks kernels'
    failed=$((failed + 1))
fi

# What bounds kernels that are made for it; and --profile says the errors of today, or a percent less or more.
while read -r kernel bound; do
    if grep -q "^| [a-z0-9]* | $kernel |.*| $bound |\$" "$scratch/table.md"; then passed=$((passed + 1)); continue; fi
    echo "$kernel is not bound by $bound"
    failed=$((failed + 1))
done <<'END'
copy_float4 memory
transpose_padded memory
nbody_two_waves compute
mandelbrot_eight_waves compute
sgemm_naive_few latency
atomic_one_place atomics
END
if awk -F'[(,)]' 'NR == FNR { if (/^ERROR/) { half[$2 $3] = $5; most[$2 $3] = $6 } next }
    !/^ERROR/ { next }
    { rows++; if (!($2 $3 in half) || (half[$2 $3] - $5)^2 > 1 || (most[$2 $3] - $6)^2 > 1) { print "today: " $0; bad = 1 } }
    END { exit bad || rows < 4 }' simulator/model/errors.def "$scratch/errors.def"; then passed=$((passed + 1)); else
    echo 'simulator/model/errors.def is not of today. Type: make accuracy'
    failed=$((failed + 1))
fi

# A tree in which everything else only says that it was called, beside an H200 and another GPU.
mkdir -p "$scratch/bin" "$scratch/build/profiles" "$scratch/grader"
ln -s "$PWD/profiles" "$scratch/profiles"
cat >"$scratch/bin/nvidia-smi" <<'END'
#!/bin/sh
case " $* " in *' -i 0 '*) ;; *) echo NVIDIA L4 ;; esac
case " $* " in *' -i 1 '*) ;; *) echo NVIDIA H200 ;; esac
END
printf '#!/bin/sh\n' | tee "$scratch/bin/ncu" >"$scratch/grader/accuracy.sh"
printf '#!/bin/sh\necho "$1"\n' >"$scratch/build/profiles/accuracy"
chmod +x "$scratch/bin/nvidia-smi" "$scratch/bin/ncu" "$scratch/build/profiles/accuracy"

# on GPUS WORDS: what it says first where CUDA_VISIBLE_DEVICES is this.
on() {
    said=$(cd "$scratch" && PATH=$scratch/bin:$PATH PROFILE= CUDA_VISIBLE_DEVICES=$1 sh profiles/accuracy.sh 2>&1 | head -n 1)
    case $said in
    "$2"*) passed=$((passed + 1)) ;;
    *) echo "make accuracy on GPU '$1' of two says: $said"; failed=$((failed + 1)) ;;
    esac
}
on '' measure
on 0,1 measure
on 1,0 'This GPU is an NVIDIA L4'

# Another such tree, with one kernel, of whose counters the third is near, the first the GPU never counts twice alike, and the
# second is wrong: it has an outlier, but not so far.
# The launch before the 15 is one that prepares something. SECOND is what is written the second time that all is measured.
mkdir -p "$scratch/one/bin" "$scratch/one/profiles/accuracy/kernels" "$scratch/one/build/accuracy" "$scratch/one/simulator"
cd "$scratch/one" || exit 1
cp "$scratch/bin/nvidia-smi" bin
touch profiles/accuracy/kernels/one.cu profiles/accuracy/why.txt profiles/accuracy/shortfalls.md profiles/accuracy/counters.txt
echo '# none' >profiles/accuracy/held-out.txt
cp "$OLDPWD/profiles/accuracy/bounds.cfg" profiles/accuracy/
printf '#!/bin/sh\necho kernel_of_one 10.0 sums\n' >build/accuracy/one
cat >simulator/run <<'END'
#!/bin/sh
echo kernel_of_one 10.42 sums
echo '{"event": "kernel", "name": "kernel_of_one", "bound": "latency", "counters": {"dram__bytes_read.sum": 30000000, "dram__bytes_write.sum": 9000000,
    "lts__t_sectors_op_read.sum": 1000000}, "metrics": {}, "estimates": ["dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors_op_read.sum"]}' | tr -d '\n' >&3
END
cat >bin/ncu <<'END'
#!/bin/sh
row() { echo "\"0\",\"1\",\"one\",\"host\",\"$1\",\"1\",\"7\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"\",\"$2\",\"byte\",\"$3\""; }
rows() { name=$1; shift; for value; do row kernel_of_one "$name" "$value"; done; }
case " $* " in
*' --version '*) echo Version 2025.3.1.0; exit ;;
*' --query-metrics '*) echo dram__bytes_read Bytes; exit ;;
*' build/accuracy/one 0 '*) rows dram__bytes_read.sum 40000000; rows launch__waves_per_multiprocessor 0.25 ;;
*dram__bytes_read.sum*' build/accuracy/one 15 '*)
    rows dram__bytes_read.sum 1 20,000,000 31000000 22000000 24000000 26000000 $(seq 24000001 24000010)
    rows dram__bytes_write.sum 1 6000000 $(yes "${SECOND:-3000000}" | head -n 14)
    row another dram__bytes_write.sum 77 ;;
*lookup_hit*lookup_miss* | *op_read*lookup_*) echo 'this takes several passes'; exit 1 ;;
*op_atom.sum* | *lookup_hit.sum* | *lookup_miss.sum*) row another lts__t_sectors_lookup_hit.sum 77 ;;
*lts__t_sectors_op_read.sum*' build/accuracy/one 15 '*) rows lts__t_sectors_op_read.sum $(seq 1000001 1000015) ;;
esac
END
chmod +x bin/ncu simulator/run build/accuracy/one
export PATH="$scratch/one/bin:$PATH"
accuracy=$OLDPWD/build/profiles/accuracy

# shows WORDS FILE
shows() {
    if grep -qF -- "$1" "$2"; then passed=$((passed + 1)); else echo "not in $2: $1"; cat "$2"; failed=$((failed + 1)); fi
}
$accuracy measure record.json >said 2>&1
shows 'record.json: 1 kernels' said
tr -d ' \n' <record.json >flat
shows '"traffic_counters":["dram__bytes_read.sum","dram__bytes_write.sum","lts__t_sectors_op_read.sum"]' flat
shows '"traffic":[[[20000000,24000005,31000000]],[[3000000,3000000,6000000]],[[1000001,1000008,1000015]]]' flat
shows '"counters":["dram__bytes_read.sum","launch__waves_per_multiprocessor"]' flat
shows '"counters":[40000000,0.25]' flat
$accuracy compare record.json table.md errors.def >said 2>&1
shows 'L2 1 of 1, DRAM 0 of 2' said
shows 'ERROR("NVIDIA L4", "latency", 1, 5, 5)' errors.def
shows '| latency | 1 | 4.2 % | 4.2 % | 4 % (kernel_of_one) |' table.md
shows '| DRAM traffic within 10 % (of 1 MB or more) | all | 0 of 2 | 0 of 0 |' table.md
shows '| of the DRAM traffic beyond: the same | | 1 of 2 | 0 of 0 |' table.md
shows '`dram__bytes_read.sum` | 30000000 | 24000005 | 20000000 to 31000000 | near its runs |' table.md
shows '`dram__bytes_write.sum` | 9000000 | 3000000 | 3000000 to 6000000 |  |' table.md
SECOND=8500000 $accuracy traffic record.json >said 2>&1
shows 'record.json: 1 kernels' said
$accuracy compare record.json table.md errors.def >said 2>&1
shows '`dram__bytes_write.sum` | 9000000 | 5750000 | 3000000 to 8500000 | near its runs |' table.md
shows "of which the medians of two measurements differ by more than 10 % | | 1 of 3 | 0 of 0 |" table.md
shows 'of 15 runs (' table.md
sed -i 's/"runs": 15,/"runs": 15, "dram_only": true,/' record.json
$accuracy compare record.json table.md errors.def >said 2>&1
shows "of 15 runs, of DRAM: L2's were counted in several passes, and are left out (" table.md
sed -i '2i echo newer 12.0 sums' simulator/run
$accuracy compare record.json table.md errors.def >said 2>&1
shows 'newer of kernels/one.cu is not compared: it was not measured on the GPU yet' said
sed -i 's/"NVIDIA H200"/"NVIDIA B200"/; s/"NVIDIA L4"/"NVIDIA B200"/' record.json
$accuracy traffic record.json >said 2>&1
shows 'the record is of another GPU' said
sed -i 's/"counters": \[40000000, /&7, /' record.json
$accuracy compare record.json table.md errors.def >said 2>&1
shows 'record.json: kernel_of_one has no row of "counters", or one of another length' said
cd "$OLDPWD" || exit 1
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
