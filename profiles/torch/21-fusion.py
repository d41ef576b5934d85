#!/usr/bin/env python3
"""What PyTorch makes of lesson 21's formula on this GPU, as it stands and compiled, beside a copy of as many bytes:

    python3 profiles/torch/21-fusion.py profiles/results/nvidia-h200/21-fusion-torch.json

The shape is the one that the lesson's Measure() times. Figures are medians of 15 groups of 20 calls, the three in turns."""
import sys

import torch
import torch.nn.functional as F

import timing

ROWS, COLS, GROUPS, CALLS = 8192, 4096, 15, 20


def tail(x, bias, residual, gamma, beta):
    return F.layer_norm(residual + F.gelu(x + bias), (x.shape[1],), gamma, beta, 1e-5)


def main(path):
    torch.manual_seed(21)
    sets = [[torch.randn(ROWS, COLS, device="cuda") for _ in range(2)] for _ in range(2)]
    rows = [torch.randn(COLS, device="cuda") for _ in range(3)]
    half = ROWS * COLS * 3 // 2     # floats: read and written, as many bytes as the formula's three matrices
    copied = [torch.empty(half, device="cuda") for _ in range(4)]
    compiled = torch.compile(tail)
    calls = {
        "copy": lambda s: copied[s].copy_(copied[2 + s]),
        "eager": lambda s: tail(sets[s][0], rows[0], sets[s][1], rows[1], rows[2]),
        "compiled": lambda s: compiled(sets[s][0], rows[0], sets[s][1], rows[1], rows[2]),
    }
    took = timing.medians(calls, GROUPS, CALLS, 2)
    size = 12 * ROWS * COLS
    rate = {name: size / each for name, each in took.items()}
    timing.write(path, {
        "rows": ROWS, "cols": COLS, "bytes": size,
        "bytes_per_second": rate,
        "of_the_copy_rate": {name: rate[name] / rate["copy"] for name in ("eager", "compiled")},
    })


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
