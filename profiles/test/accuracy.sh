#!/bin/sh
# Today's simulated device against what was measured on an H200: no bound of profiles/accuracy/bounds.cfg is exceeded, and
# every kernel is in the table. And on a machine with several GPUs `make accuracy` measures the one that programs take.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

build/profiles/accuracy compare profiles/accuracy/nvidia-h200.json "$scratch/table.md" >"$scratch/said" 2>&1
status=$?
cat "$scratch/said"
if [ "$status" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

if [ "$(grep -c '^| [a-z0-9]* | [a-z_0-9]* | *[a-z ]*|' "$scratch/table.md")" -ge 108 ]; then
    passed=$((passed + 1))
else
    echo 'the table lacks kernels'
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
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
