#!/usr/bin/env python3
"""What PyTorch's attention makes of lesson 24's measured shapes on this GPU, by each of its backends that it has there:

    python3 profiles/torch/24-flash-attention.py profiles/results/nvidia-h200/24-flash-attention-torch.json

"flash" is FlashAttention-2, PyTorch's default for these shapes, and "cudnn" is cuDNN's. Operations are counted as is usual: two
for each multiply-and-add, and half of them in causal heads. Figures are medians of 15 groups of 20 calls, the backends in turns."""
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import timing

GROUPS, CALLS, SETS, LENGTH, ROW = 15, 20, 2, 8192, 1024
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def shape(width, causal):
    heads = ROW // width
    inputs = [[torch.randn(1, heads, LENGTH, width, dtype=torch.bfloat16, device="cuda") for _ in range(3)] for _ in range(SETS)]
    times, missing = {}, {}

    def call_of(backend):
        def call(s):
            with sdpa_kernel(backend):
                scaled_dot_product_attention(*inputs[s], is_causal=causal)
        return call

    for group in range(GROUPS + 1):
        for name, backend in BACKENDS.items():
            if name in missing:
                continue
            try:
                took = timing.seconds(call_of(backend), CALLS, SETS)
            except RuntimeError as error:   # PyTorch has no such kernel for this GPU or shape
                missing[name] = str(error).splitlines()[0]
                continue
            if group:                       # the first wakes the GPU up
                times.setdefault(name, []).append(took)
    operations = 4 * heads * LENGTH * LENGTH * width // (2 if causal else 1)
    medians = {name: statistics.median(took) for name, took in times.items()}
    return {
        "width": width, "causal": causal, "heads": heads, "length": LENGTH, "operations": operations,
        "seconds": medians, "operations_per_second": {name: operations / took for name, took in medians.items()},
        "missing": missing,
    }


def main(path):
    torch.manual_seed(24)
    timing.write(path, {
        "attention": [shape(width, causal) for width in (64, 128) for causal in (False, True)],
    })


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
