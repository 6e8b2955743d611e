#!/usr/bin/env python3
"""A training step with a fixed seed that holds one of everything: convolution, batch norm, matrix products in three
precisions, attention, layer norm, softmax, losses, an optimizer.

    step.py                 runs the step once, for a hardware profiler
    step.py --trace FILE    runs it under PyTorch's profiler and writes a trace with shapes

Both run the same kernels: warm-up outside the profiled part, no autotuning, deterministic algorithms.
"""
import argparse

import torch
import torch.nn.functional as F


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(16, 64, 3, padding=1, bias=False)
        self.group = torch.nn.Conv2d(64, 64, 3, stride=2, padding=1, groups=4)
        self.bn = torch.nn.BatchNorm2d(64)
        self.query, self.out = torch.nn.Linear(64, 3 * 512), torch.nn.Linear(512, 1024)
        self.norm = torch.nn.LayerNorm(1024)
        self.head = torch.nn.Linear(1024, 1000)

    def forward(self, x):
        x = F.relu(self.bn(self.group(self.conv(x))))
        x = x.flatten(2).transpose(1, 2)
        q, k, v = self.query(x).view(x.shape[0], x.shape[1], 3, 8, 64).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = F.gelu(self.out(x.transpose(1, 2).flatten(2)))
        return self.head(self.norm(x).mean(dim=1))


def steps():
    torch.manual_seed(1)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        net = Net().cuda().to(dtype)
        optimizer = torch.optim.AdamW(net.parameters(), fused=True)
        x = torch.randn(16, 16, 64, 64, device="cuda", dtype=dtype)
        target = torch.randint(0, 1000, (16,), device="cuda")

        def step(net=net, optimizer=optimizer, x=x, target=target):
            optimizer.zero_grad(set_to_none=False)
            F.cross_entropy(net(x).float(), target).backward()
            optimizer.step()

        yield step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", help="write a trace of PyTorch's profiler")
    arguments = parser.parse_args()
    prepared = list(steps())
    for step in prepared:
        step()
        step()
    torch.cuda.synchronize()
    if arguments.trace:
        with torch.profiler.profile(record_shapes=True) as profile:
            for step in prepared:
                step()
            torch.cuda.synchronize()
        profile.export_chrome_trace(arguments.trace)
        return
    torch.cuda.empty_cache()  # A profiler that runs kernels several times saves all memory of the GPU.
    torch.cuda.cudart().cudaProfilerStart()
    for step in prepared:
        step()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    main()
