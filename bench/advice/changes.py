#!/usr/bin/env python3
"""Programs with a fault that advice should name, and the same programs with what it advises done.

    changes.py OUT_DIR [--only REGEX] [--seconds N]

For each: OUT_DIR/NAME.before.json.gz and NAME.after.json.gz, traces of PyTorch's profiler of some steps, and in
OUT_DIR/changes.json the time of a step of both without a profiler, in turns. `compare.py` holds that against what advice
estimated. No program is begun after --seconds.
"""
import argparse
import gzip
import json
import pathlib
import re
import shutil
import statistics
import time

import torch
import torch.nn.functional as F

TRACED_STEPS = 4
ROUNDS = 5
LEAST_SECONDS = 0.12  # Of a timed round.
BF16 = torch.bfloat16


def rows(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, device="cuda", dtype=dtype)


def mlp(width, layers, dtype=torch.float32):
    parts = [part for _ in range(layers) for part in (torch.nn.Linear(width, width), torch.nn.GELU())]
    return torch.nn.Sequential(*parts).cuda().to(dtype)


def training(network, x, optimizer=None, cast=None, forward=None):
    optimizer = optimizer or torch.optim.SGD(network.parameters(), lr=1e-3)
    forward = forward or network

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=cast, enabled=cast is not None):
            loss = forward(x).float().square().mean()
        loss.backward()
        optimizer.step()

    return step


def with_tf32(allowed, step):
    def run():
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed
        step()
        torch.backends.cuda.matmul.allow_tf32 = False

    return run


def tf32():
    step = training(mlp(2048, 4), rows(4096, 2048))
    return with_tf32(False, step), with_tf32(True, step)


def mixed_precision():
    network, x = mlp(2048, 4), rows(4096, 2048)
    return with_tf32(True, training(network, x)), with_tf32(True, training(network, x, cast=BF16))


class Attention(torch.nn.Module):
    def __init__(self, how, width=1024, heads=16):
        super().__init__()
        self.how, self.heads = how, heads
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.how == "products":
            weights = (q @ k.transpose(-2, -1) / q.shape[-1]**0.5).softmax(-1)
            y = weights @ v
        else:
            from torch.nn.attention import SDPBackend, sdpa_kernel
            with sdpa_kernel(SDPBackend.MATH if self.how == "math" else SDPBackend.FLASH_ATTENTION):
                y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


def attention(how):
    def make(kind):
        return training(Attention(kind).cuda().to(BF16), rows(4, 2048, 1024, dtype=BF16))

    return lambda: (make(how), make("flash"))


class RMSNorm(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class LlamaBlock(torch.nn.Module):
    """One decoder layer as models are written: RMSNorm by hand, RoPE, repeated keys, SwiGLU."""

    def __init__(self, width=1024, heads=16, key_heads=4):
        super().__init__()
        self.heads, self.key_heads, self.size = heads, key_heads, width // heads
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(width), RMSNorm(width)
        self.q_proj = torch.nn.Linear(width, width, bias=False)
        self.k_proj = torch.nn.Linear(width, key_heads * self.size, bias=False)
        self.v_proj = torch.nn.Linear(width, key_heads * self.size, bias=False)
        self.o_proj = torch.nn.Linear(width, width, bias=False)
        self.gate_proj = torch.nn.Linear(width, 3 * width, bias=False)
        self.up_proj = torch.nn.Linear(width, 3 * width, bias=False)
        self.down_proj = torch.nn.Linear(3 * width, width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        y = self.input_layernorm(x)
        q = self.q_proj(y).view(batch, length, self.heads, self.size).transpose(1, 2)
        k = self.k_proj(y).view(batch, length, self.key_heads, self.size).transpose(1, 2)
        v = self.v_proj(y).view(batch, length, self.key_heads, self.size).transpose(1, 2)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k, v = (t.repeat_interleave(self.heads // self.key_heads, 1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.o_proj(y)
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(torch.nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.layers = torch.nn.ModuleList(LlamaBlock() for _ in range(layers))
        at = torch.arange(2048, device="cuda")[:, None] / 10000**(torch.arange(0, 64, 2, device="cuda") / 64)
        angles = torch.cat((at, at), -1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.cos.to(x.dtype), self.sin.to(x.dtype))
        return x


def eager_llama():
    network, x = Llama().cuda().to(BF16), rows(2, 2048, 1024, dtype=BF16)
    compiled = torch.compile(network)
    return training(network, x), training(network, x, forward=compiled)


def optimizer_kind(before, after):
    def make(kind):
        network = mlp(512, 32)
        return training(network, rows(256, 512), optimizer=torch.optim.AdamW(network.parameters(), **kind))

    return lambda: (make(before), make(after))


def big_optimizer():
    """Few and large tensors: the passes over memory count, not the launches."""
    def make(kind):
        network = mlp(4096, 8, BF16)
        return training(network, rows(512, 4096, dtype=BF16),
                        optimizer=torch.optim.AdamW(network.parameters(), **kind))

    return make({"foreach": True}), make({"fused": True})


def input_copies():
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 7, 4), torch.nn.ReLU(), torch.nn.Conv2d(64, 128, 3, 2),
                                  torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                                  torch.nn.Linear(128, 100)).cuda()
    pageable = torch.randn(128, 3, 224, 224)
    pinned = pageable.clone().pin_memory()
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)

    def make(source, asynchronous):
        def step():
            optimizer.zero_grad(set_to_none=True)
            network(source.to("cuda", non_blocking=asynchronous)).square().mean().backward()
            optimizer.step()

        return step

    return make(pageable, False), make(pinned, True)


def blocking_calls():
    network, x = mlp(512, 12, BF16), rows(2048, 512, dtype=BF16)
    plain = training(network, x)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)

    def chatty():
        optimizer.zero_grad(set_to_none=True)
        y = x
        for part in network:
            y = part(y)
            if torch.isnan(y).any():  # A check that asks the GPU in every layer.
                raise ValueError("not a number")
        y.float().square().mean().backward()
        optimizer.step()

    return chatty, plain


def convnet(width=128):
    parts = []
    for i in range(6):
        parts += [torch.nn.Conv2d(3 if i == 0 else width, width, 3, padding=1, bias=False),
                  torch.nn.BatchNorm2d(width), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts).cuda().to(torch.float16)


def channels_last():
    x = rows(32, 3, 64, 64, dtype=torch.float16)
    other = convnet().to(memory_format=torch.channels_last)
    return training(convnet(), x), training(other, x.to(memory_format=torch.channels_last))


def batch_norm_chain():
    network, x = convnet(64), rows(64, 3, 64, 64, dtype=torch.float16).to(memory_format=torch.channels_last)
    network = network.to(memory_format=torch.channels_last)
    return training(network, x), training(network, x, forward=torch.compile(network))


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, i):
        time.sleep(0.0005)  # As long as it takes to decode a small image.
        return torch.full((3, 64, 64), float(i % 7))


def data_loader():
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3),
                                  torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)

    def make(workers):
        loader = torch.utils.data.DataLoader(Images(), batch_size=32, num_workers=workers, pin_memory=True)
        batches = iter(loader)

        def step():
            optimizer.zero_grad(set_to_none=True)
            network(next(batches).to("cuda", non_blocking=True)).square().mean().backward()
            optimizer.step()

        return step

    return make(0), make(4)


def small_kernels():
    network, x = mlp(128, 24, BF16), rows(64, 128, dtype=BF16)
    graphed = torch.compile(network, mode="reduce-overhead")
    with torch.no_grad():
        network(x)

    def forward(model):
        def step():
            with torch.inference_mode():
                model(x)

        return step

    return forward(network), forward(graphed)


def graph_replays():
    """Small graphs, replayed one by one with a wait between them; or all of it in one."""
    network, x = mlp(256, 16, BF16), rows(128, 256, dtype=BF16)

    def captured(parts):
        graphs, y = [], x
        with torch.no_grad():
            for part in parts:
                part(y)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    z = part(y)
                graphs.append(graph)
                y = z
        return graphs

    singles, whole = captured([torch.nn.Sequential(*network[i:i + 2]) for i in range(0, 32, 2)]), captured([network])

    def replay(graphs):
        def step():
            for graph in graphs:
                graph.replay()

        return step

    return replay(singles), replay(whole)


def casts():
    """Weights in fp32 that every product casts again, as without the cache of autocast; or kept in bf16."""
    network, x = mlp(4096, 8), rows(512, 4096)
    half, y = mlp(4096, 8, BF16), rows(512, 4096, dtype=BF16)

    def before():
        with torch.inference_mode(), torch.autocast("cuda", dtype=BF16, cache_enabled=False):
            network(x)

    def after():
        with torch.inference_mode():
            half(y)

    return before, after


def recomputation():
    from torch.utils.checkpoint import checkpoint
    network, x = mlp(2048, 8, BF16), rows(4096, 2048, dtype=BF16)
    halves = [network[:8], network[8:]]

    def forward(y):
        for half in halves:
            y = checkpoint(half, y, use_reentrant=False)
        return y

    return training(network, x, forward=forward), training(network, x)


def odd_vocabulary():
    """A head of 50,257 columns, which no tile divides, and one of 50,304."""
    def make(columns):
        return training(torch.nn.Linear(1024, columns, bias=False).cuda().to(BF16), rows(4096, 1024, dtype=BF16))

    return make(50257), make(50304)


def few_blocks():
    """A reduction that Triton runs on 8 blocks, and on 512."""
    import kernels

    x = rows(1 << 24)
    return lambda: kernels.row_sums(x.view(8, -1)), lambda: kernels.row_sums(x.view(512, -1))


def quantized():
    """FP8 products whose input is quantised by ops of its own each time, and by one compiled kernel."""
    weight = rows(4096, 4096).to(torch.float8_e4m3fn).t()
    one, x = torch.ones((), device="cuda"), rows(4096, 4096, dtype=BF16)

    def quantise(y):
        scale = y.abs().amax().float() / 448.0
        return (y.float() / scale).clamp(-448.0, 448.0).to(torch.float8_e4m3fn), scale

    compiled = torch.compile(quantise)

    def make(how):
        def step():
            y = x
            for _ in range(4):
                q, scale = how(y)
                y = torch._scaled_mm(q, weight, scale_a=scale, scale_b=one, out_dtype=BF16)

        return step

    return make(quantise), make(compiled)


def emptied_cache():
    network, x = mlp(1024, 8, BF16), rows(4096, 1024, dtype=BF16)
    plain = training(network, x)

    def before():
        plain()
        torch.cuda.empty_cache()

    return before, plain


def zeroed_gradients():
    network = mlp(512, 48)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, foreach=False)
    fused = torch.optim.SGD(network.parameters(), lr=1e-3, fused=True)
    x = rows(256, 512)
    return training(network, x, optimizer=optimizer), training(network, x, optimizer=fused)


CHANGES = [
    ("tf32", tf32), ("mixed_precision", mixed_precision), ("attention_math", attention("math")),
    ("attention_products", attention("products")), ("eager_llama", eager_llama),
    ("optimizer_per_tensor", optimizer_kind({"foreach": False}, {"fused": True})),
    ("optimizer_foreach", optimizer_kind({"foreach": True}, {"fused": True})), ("big_optimizer", big_optimizer),
    ("input_copies", input_copies), ("blocking_calls", blocking_calls), ("channels_last", channels_last),
    ("data_loader", data_loader), ("small_kernels", small_kernels), ("graph_replays", graph_replays),
    ("casts", casts), ("recomputation", recomputation), ("odd_vocabulary", odd_vocabulary),
    ("few_blocks", few_blocks), ("quantized", quantized), ("emptied_cache", emptied_cache),
    ("sgd_per_tensor", zeroed_gradients), ("batch_norm_chain", batch_norm_chain),
]


def timed(step, count):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def step_seconds(steps):
    """The median time of a step of each, without a profiler; the variants take turns."""
    for step in steps:
        timed(step, 5)
    counts = [max(3, min(200, int(LEAST_SECONDS / max(timed(step, 3), 1e-6)))) for step in steps]
    times = [[] for _ in steps]
    for _ in range(ROUNDS):
        for i, step in enumerate(steps):
            times[i].append(timed(step, counts[i]))
    return [statistics.median(values) for values in times]


def trace(step, path):
    plan = torch.profiler.schedule(wait=0, warmup=2, active=TRACED_STEPS, repeat=1)
    with torch.profiler.profile(record_shapes=True, schedule=plan) as profile:
        for _ in range(2 + TRACED_STEPS):
            step()
            profile.step()
        torch.cuda.synchronize()
    plain = path.with_suffix("")
    profile.export_chrome_trace(str(plain))
    with open(plain, "rb") as file, gzip.open(path, "wb", compresslevel=9) as packed:
        shutil.copyfileobj(file, packed)
    plain.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="programs whose name this regular expression finds")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    begin, results = time.monotonic(), {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "changes": {}}
    for name, make in CHANGES:
        if not re.search(options.only, name) or time.monotonic() - begin > options.seconds:
            continue
        torch.manual_seed(1)
        try:
            steps = make()
            seconds = step_seconds(steps)
            for when, step in zip(("before", "after"), steps):
                trace(step, options.out / f"{name}.{when}.json.gz")
            results["changes"][name] = dict(zip(("before_s", "after_s"), seconds))
            print(f"{time.monotonic() - begin:6.1f} s  {name}: {seconds[0] * 1e3:.3f} -> {seconds[1] * 1e3:.3f} ms", flush=True)
        except Exception as fault:  # The others are to be run too.
            print(f"{time.monotonic() - begin:6.1f} s  {name}: {fault!r}"[:600], flush=True)
        steps = None
        torch.cuda.empty_cache()
        torch._dynamo.reset()
        (options.out / "changes.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
