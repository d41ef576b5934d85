#!/usr/bin/env python3
"""What cuDNN makes of lesson 23's layers on this GPU, through PyTorch, beside the lesson's solution and a copy of as many bytes:

    nvcc -std=c++17 -O3 -arch=native -shared -Xcompiler -fPIC -I grader/lessons -o build/23.so solutions/23-convolution-layers.cu
    python3 profiles/torch/23-convolution-layers.py build/23.so profiles/results/nvidia-h200/23-convolution-layers-torch.json

The shapes are those that the lesson's Measure()s time. Figures are medians of 15 groups of 20 calls, all in turns."""
import ctypes
import sys

import torch
import torch.nn.functional as F

import timing

GROUPS, CALLS, SETS = 15, 20, 4
# name: pictures, pixels of a side, channels, filters; all filters are 3 x 3 with stride, padding and dilation 1
LAYERS = {"56 x 56": (32, 56, 64, 64), "14 x 14": (32, 14, 256, 256), "depthwise, 112 x 112": (32, 112, 64, None)}


def numbers(*shape):
    """In channels_last, neighbouring numbers of memory are the channels of a pixel: NHWC."""
    return torch.randn(*shape, dtype=torch.bfloat16, device="cuda").contiguous(memory_format=torch.channels_last)


def compared(library, n, side, c, k):
    groups, filters = (1, k) if k else (c, c)
    x = [numbers(n, c, side, side) for _ in range(SETS)]
    w = numbers(filters, c // groups, 3, 3)
    y = [torch.empty_like(numbers(n, filters, side, side)) for _ in range(SETS)]
    workspace = torch.empty(n * side * side * 9 * c if k else 8, dtype=torch.bfloat16, device="cuda")
    # A depthwise filter's numbers are [u][v][channel] in the lesson, and [channel][u][v] in PyTorch.
    w_of_lesson = w if k else w.permute(2, 3, 1, 0).contiguous()
    size = 2 * (x[0].numel() + y[0].numel() + w.numel())
    copied = [torch.empty(size // 4, dtype=torch.bfloat16, device="cuda") for _ in range(2 * SETS)]

    def lesson(s):
        pointers = [ctypes.c_void_p(t.data_ptr()) for t in (y[s], x[s], w_of_lesson)]
        if k:
            library.convolve(*pointers, ctypes.c_void_p(workspace.data_ptr()), n, side, side, c, k, 3, 3, 1, 1, 1)
        else:
            library.convolve_depthwise(*pointers, n, side, side, c, 3, 3, 1, 1, 1)

    calls = {
        "copy": lambda s: copied[s].copy_(copied[SETS + s]),
        "cudnn": lambda s: F.conv2d(x[s], w, padding=1, groups=groups),
        "lesson": lesson,
    }
    lesson(0)
    error = (y[0].float() - F.conv2d(x[0].float(), w.float(), padding=1, groups=groups)).abs().max().item()
    took = timing.medians(calls, GROUPS, CALLS, SETS)
    return {
        "n": n, "side": side, "c": c, "k": filters, "groups": groups, "bytes": size, "largest_error": error,
        "seconds": took, "tflops": {name: 2e-12 * y[0].numel() * 9 * (c // groups) / took[name] for name in ("cudnn", "lesson")},
        "of_cudnn": took["cudnn"] / took["lesson"],
        "of_the_copy_rate": {name: took["copy"] / took[name] for name in ("cudnn", "lesson")},
    }


def main(library, path):
    torch.manual_seed(23)
    torch.backends.cudnn.benchmark = True       # cuDNN tries what it has, and takes the fastest
    torch.backends.cudnn.allow_tf32 = False     # the reference is in float
    timing.write(path, {
        "cudnn": torch.backends.cudnn.version(),
        "layers": {name: compared(ctypes.CDLL(library), *layer) for name, layer in LAYERS.items()},
    })


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
