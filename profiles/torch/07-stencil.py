#!/usr/bin/env python3
"""What PyTorch makes of lesson 7's filter on this GPU, by its convolution (cuDNN's) and by Fourier transforms (cuFFT's),
beside a copy of as many bytes:

    python3 profiles/torch/07-stencil.py profiles/results/nvidia-h200/07-stencil-torch.json

The picture is as large as the one that the lesson's Measure() times; beyond its edges are zeros, or, for the transforms, the picture begins anew,
which is less work than clamping. Figures are medians of 9 groups of 4 calls, all in turns."""
import sys

import torch
import torch.nn.functional as F

import timing

WIDTH, HEIGHT, GROUPS, CALLS = 8192, 8192, 9, 4


def by_transforms(picture, filters):
    return torch.fft.irfft2(torch.fft.rfft2(picture) * filters, s=picture.shape)


def main(path):
    torch.manual_seed(7)
    torch.backends.cudnn.allow_tf32 = False     # float all the way
    torch.backends.cudnn.benchmark = True       # cuDNN tries what it has, and takes the fastest
    pictures = [torch.randn(HEIGHT, WIDTH, device="cuda") for _ in range(2)]
    copied = [torch.empty(HEIGHT, WIDTH, device="cuda") for _ in range(2)]
    calls = {"copy": lambda s: copied[s].copy_(pictures[s])}
    for radius in (1, 2, 4, 8):
        side = 2 * radius + 1
        weights = torch.randn(1, 1, side, side, device="cuda")
        calls[f"conv2d, radius {radius}"] = lambda s, w=weights, r=radius: F.conv2d(pictures[s][None, None], w, padding=r)
    whole = torch.zeros(HEIGHT, WIDTH, device="cuda")
    whole[:5, :5] = torch.randn(5, 5, device="cuda")
    filters = torch.fft.rfft2(whole)            # once, for any number of pictures
    calls["transforms, any radius"] = lambda s: by_transforms(pictures[s], filters)

    took = timing.medians(calls, GROUPS, CALLS, 2)
    size = 8 * WIDTH * HEIGHT
    rate = {name: size / each for name, each in took.items()}
    timing.write(path, {
        "cudnn": torch.backends.cudnn.version(), "width": WIDTH, "height": HEIGHT, "bytes": size,
        "bytes_per_second": rate,
        "of_the_copy_rate": {name: rate[name] / rate["copy"] for name in rate if name != "copy"},
    })


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
