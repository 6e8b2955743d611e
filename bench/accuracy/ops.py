#!/usr/bin/env python3
"""Calls of operators, one after the other, forward and backward, whose costs are to be held against counters.

    ops.py                 runs them once between cudaProfilerStart and Stop, for a hardware profiler
    ops.py --trace FILE    runs them under PyTorch's profiler and writes a trace with shapes

Both launch the same kernels in the same order. The tensors of a call are made on the CPU, which launches no kernel, and
live as long as it runs: a profiler that runs a kernel several times saves all memory of the GPU before.
"""
import argparse

import torch
import torch.nn.functional as F


def data(*sizes, dtype=torch.float32, gradient=True):
    x = torch.randn(*sizes).to(dtype).cuda()
    return x.requires_grad_() if gradient else x


def calls():
    """The calls; each answers a tensor, or None where nothing is to be differentiated."""
    half, bf16, double = torch.float16, torch.bfloat16, torch.float64
    # Products: those that tiles divide, and those that they do not.
    for dtype in (torch.float32, half, bf16, double):
        a, b = data(512, 1024, dtype=dtype), data(1024, 768, dtype=dtype)
        yield lambda a=a, b=b: a @ b
    for m, n, k in ((1000, 1000, 1000), (77, 50257 // 8, 513), (1, 4096, 4096)):
        a, b = data(m, k, dtype=bf16), data(k, n, dtype=bf16)
        yield lambda a=a, b=b: a @ b
    a, b = data(16, 256, 128, dtype=bf16), data(16, 128, 256, dtype=bf16)
    yield lambda a=a, b=b: torch.bmm(a, b)
    x, linear = data(512, 1024, dtype=bf16), torch.nn.Linear(1024, 1024).to(bf16).cuda()
    yield lambda x=x: linear(x)
    # Convolutions.
    for sizes, filters, arguments in (
            ((4, 64, 224, 224), (128, 64, 1, 1), {"stride": 2}), ((8, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
            ((8, 64, 57, 57), (96, 64, 3, 3), {"stride": 3}), ((8, 64, 56, 56), (64, 1, 3, 3), {"groups": 64}),
            ((8, 64, 56, 56), (64, 16, 3, 3), {"groups": 4}), ((8, 32, 56, 56), (64, 32, 3, 3), {"dilation": 2})):
        for dtype in (torch.float32, half):
            x, w = data(*sizes, dtype=dtype), data(*filters, dtype=dtype)
            yield lambda x=x, w=w, arguments=arguments: F.conv2d(x, w, **arguments)
    x, w = data(8, 64, 4096, dtype=half), data(64, 64, 5, dtype=half)
    yield lambda x=x, w=w: F.conv1d(x, w, stride=7)
    x, w = data(2, 16, 16, 56, 56, dtype=half), data(32, 16, 1, 1, 1, dtype=half)
    yield lambda x=x, w=w: F.conv3d(x, w, stride=2)
    x, w = data(8, 64, 28, 28, dtype=half), data(64, 32, 2, 2, dtype=half)
    yield lambda x=x, w=w: F.conv_transpose2d(x, w, stride=2)
    # Interpolation that grows and that shrinks.
    image, line, volume = data(8, 64, 64, 64), data(8, 64, 4096), data(2, 16, 32, 32, 32)
    for mode in ("nearest", "bilinear", "bicubic"):
        yield lambda mode=mode: F.interpolate(image, scale_factor=2, mode=mode)
        yield lambda mode=mode: F.interpolate(image, size=(13, 12), mode=mode)
    yield lambda: F.interpolate(image, size=(31, 31), mode="bilinear", antialias=True)
    yield lambda: F.interpolate(image, scale_factor=[1.0, 2.0], mode="bilinear")
    for mode in ("nearest", "linear"):
        yield lambda mode=mode: F.interpolate(line, scale_factor=2.0, mode=mode)
    for mode in ("nearest", "trilinear"):
        yield lambda mode=mode: F.interpolate(volume, scale_factor=2.0, mode=mode)
    # Pooling with windows that touch, overlap and skip.
    big = data(8, 64, 97, 97)
    for size in (6, (7, 5), 1):
        yield lambda size=size: F.adaptive_avg_pool2d(big, size)
        yield lambda size=size: F.adaptive_max_pool2d(big, size)
    for arguments in ((2,), (3, 2), (2, 5)):
        yield lambda arguments=arguments: F.max_pool2d(big, *arguments)
        yield lambda arguments=arguments: F.avg_pool2d(big, *arguments)
    yield lambda: F.adaptive_avg_pool1d(line, 1000)
    yield lambda: F.adaptive_avg_pool3d(volume, 7)
    # Pointwise, normalisation, reductions.
    flat = data(4096, 4096)
    for function in (F.relu, F.gelu, F.silu, torch.sigmoid, torch.tanh, torch.exp, F.softplus, F.mish, F.hardswish,
                     torch.rsqrt, torch.sin, torch.log1p):
        yield lambda function=function: function(flat)
    yield lambda: F.gelu(flat, approximate="tanh")
    for p in (0.1, 0.5):
        yield lambda p=p: F.dropout(flat, p)
    yield lambda: flat * flat + 2.0
    yield lambda: torch.addcmul(flat, flat, flat)
    yield lambda: torch.where(flat > 0, flat, 0.0)
    yield lambda: torch.lerp(flat, flat * 2, 0.5)
    yield lambda: flat.to(bf16)
    yield lambda: F.softmax(flat, -1)
    yield lambda: F.log_softmax(flat, -1)
    yield lambda: F.layer_norm(flat, (4096,), torch.ones(4096, device="cuda"), torch.zeros(4096, device="cuda"))
    yield lambda: F.rms_norm(flat, (4096,), torch.ones(4096, device="cuda"))
    yield lambda: F.group_norm(image, 8)
    yield lambda: F.batch_norm(image, None, None, torch.ones(64, device="cuda"), torch.zeros(64, device="cuda"), training=True)
    for function in (torch.sum, torch.mean, torch.std, torch.logsumexp, torch.norm):
        yield lambda function=function: function(flat, 1) if function is torch.logsumexp else function(flat)
    yield lambda: flat.sum(0)
    yield lambda: flat.cumsum(1)
    yield lambda: flat.amax(1)
    target = torch.randint(0, 4096, (4096,)).cuda()
    yield lambda: F.cross_entropy(flat, target)
    yield lambda: F.mse_loss(flat, flat.detach() * 2)
    yield lambda: F.embedding(target, flat)
    # Data movement.
    yield lambda: torch.cat((flat, flat), 1)
    yield lambda: flat.t().contiguous()
    yield lambda: flat[target]
    yield lambda: torch.gather(flat, 1, target[:, None].expand(-1, 64).contiguous())
    # Attention.
    for dtype in (half, bf16):
        q, k, v = (data(2, 8, 1024, 64, dtype=dtype) for _ in range(3))
        yield lambda q=q, k=k, v=v: F.scaled_dot_product_attention(q, k, v)
        yield lambda q=q, k=k, v=v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    # What has no gradient.
    plain = flat.detach()
    yield lambda: (torch.sort(plain[:512]), None)[1]
    yield lambda: (torch.topk(plain, 16), None)[1]
    yield lambda: (torch.argmax(plain, 1), None)[1]


def run_all():
    for call in calls():
        result = call()
        if result is not None:
            result.backward(torch.ones_like(result))
        del call, result
        torch.cuda.empty_cache()
    torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", help="write a trace of PyTorch's profiler")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = False
    run_all()  # What is loaded, created or chosen at first use.
    run_all()
    if arguments.trace:
        with torch.profiler.profile(record_shapes=True) as profile:
            run_all()
        profile.export_chrome_trace(arguments.trace)
        return
    torch.cuda.cudart().cudaProfilerStart()
    run_all()
    torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    main()
