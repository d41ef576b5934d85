#!/usr/bin/env python3
"""What PyTorch makes of lesson 22's softmax and gradients on this GPU, as they stand and compiled, beside a copy of as many bytes:

    python3 profiles/torch/22-softmax-and-norms.py profiles/results/nvidia-h200/22-softmax-and-norms-torch.json

The shapes are those that the lesson's Measure()s time. Figures are medians of 15 groups of 20 calls, the three in turns."""
import sys

import torch

import timing

GROUPS, CALLS, SETS = 15, 20, 2
SHAPES = ((32768, 1024), (8192, 4096), (1024, 32768))


def compared(eager, compiled, size):
    """Bytes a second of the copy, and what the calls reach of that."""
    copied = [torch.empty(size // 4, dtype=torch.bfloat16, device="cuda") for _ in range(2 * SETS)]
    calls = {"copy": lambda s: copied[s].copy_(copied[SETS + s]), "eager": eager, "compiled": compiled}
    took = timing.medians(calls, GROUPS, CALLS, SETS)
    rate = {name: size / each for name, each in took.items()}
    return {
        "bytes": size,
        "bytes_per_second": rate,
        "of_the_copy_rate": {name: rate[name] / rate["copy"] for name in ("eager", "compiled")},
    }


def numbers(rows, cols):
    return [torch.randn(rows, cols, dtype=torch.bfloat16, device="cuda") for _ in range(SETS)]


def softmax(rows, cols):
    x = numbers(rows, cols)
    compiled = torch.compile(lambda t: torch.softmax(t, 1))
    return compared(lambda s: torch.softmax(x[s], 1), lambda s: compiled(x[s]), 4 * rows * cols)


def norm(x, gamma, beta):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5)


def gradients(rows, cols):
    """The backward pass alone: its forward pass is run once, before the clock starts. PyTorch's own uses the mean and the
    scale of each row that the forward pass has stored, which the lesson computes again."""
    x, dy = numbers(rows, cols), numbers(rows, cols)
    gamma, beta = (torch.randn(cols, device="cuda") for _ in range(2))
    inputs = [[t.requires_grad_(), gamma.bfloat16().requires_grad_(), beta.bfloat16().requires_grad_()] for t in x]

    def backward_of(forward):
        y = [forward(*inputs[s]) for s in range(SETS)]
        return lambda s: torch.autograd.grad(y[s], inputs[s], dy[s], retain_graph=True)

    return compared(backward_of(norm), backward_of(torch.compile(norm)), 6 * rows * cols)


def main(path):
    torch.manual_seed(22)
    timing.write(path, {
        "softmax": [{"rows": rows, "cols": cols, **softmax(rows, cols)} for rows, cols in SHAPES],
        "gradients": [{"rows": 8192, "cols": 4096, **gradients(8192, 4096)}],
    })


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
