#!/usr/bin/env python3
"""What PyTorch makes of lesson 25's products on this GPU, in bf16 (cuBLAS's) and in int4 (its own kernel, groups of 128), beside
a copy:

    python3 profiles/torch/25-quantization.py profiles/results/nvidia-h200/25-quantization-torch.json

The layer is the one that the lesson's Measure()s time. Rates are bytes of weights as they are stored, a second. Figures are
medians of 15 groups of 20 calls, all in turns."""
import sys

import torch
import torch.nn.functional as F

import timing

ROWS, COLS, GROUP, GROUPS, CALLS, SETS = 16384, 8192, 128, 15, 20, 3
INT4_BYTES = ROWS * COLS // 2 + ROWS * COLS // GROUP * 4     # a scale and a zero of 16 bits for each group


def main(path):
    torch.manual_seed(25)
    weights = [torch.randn(ROWS, COLS, device="cuda", dtype=torch.bfloat16) for _ in range(SETS)]
    nibbles = [torch.randint(0, 256, (ROWS, COLS // 2), device="cuda", dtype=torch.uint8) for _ in range(SETS)]
    packed = [torch.ops.aten._convert_weight_to_int4pack(n, 8) for n in nibbles]
    scales = torch.rand(COLS // GROUP, ROWS, 2, device="cuda", dtype=torch.bfloat16)
    half = INT4_BYTES // 2
    copied = [torch.empty(half, device="cuda", dtype=torch.uint8) for _ in range(2 * SETS)]
    calls, size = {"copy": lambda s: copied[s].copy_(copied[SETS + s])}, {"copy": 2 * half}
    for batch in (1, 16):
        x = torch.randn(batch, COLS, device="cuda", dtype=torch.bfloat16)
        calls[f"bf16, batch {batch}"] = lambda s, x=x: F.linear(x, weights[s])
        size[f"bf16, batch {batch}"] = 2 * ROWS * COLS
        calls[f"int4, batch {batch}"] = lambda s, x=x: torch.ops.aten._weight_int4pack_mm(x, packed[s], GROUP, scales)
        size[f"int4, batch {batch}"] = INT4_BYTES
    took = timing.medians(calls, GROUPS, CALLS, SETS)
    rate = {name: size[name] / took[name] for name in took}
    timing.write(path, {
        "rows": ROWS, "cols": COLS, "group": GROUP, "bytes": size, "seconds": took, "bytes_per_second": rate,
        "of_the_copy_rate": {name: rate[name] / rate["copy"] for name in rate if name != "copy"},
        "times_as_fast_as_bf16": {batch: took[f"bf16, batch {batch}"] / took[f"int4, batch {batch}"] for batch in (1, 16)},
    })


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
