#!/usr/bin/env python3
"""What people run on a GPU today, a program each, to be recorded.

    today.py NAME                  two steps between cudaProfilerStart and Stop, warm-up before them, with ranges of
                                   oplens_annotate where a profiler listens
    today.py NAME --kineto FILE    the same steps under PyTorch's own profiler, which writes its trace
    today.py --list                the names

Programs model_NAME are those of test/torch/programs/models.py on the GPU, a training step of a tiny model each time; they
print the FLOPs of its products and convolutions by the arithmetic of its configuration.
"""
import argparse
import os
import pathlib
import sys

import torch
import torch.nn.functional as F

STEPS = 2
WARM_UP = 3


class Block(torch.nn.Module):
    def __init__(self, size=256):
        super().__init__()
        self.norm = torch.nn.LayerNorm(size)
        self.up, self.down = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def training(network, *inputs, optimizer=None):
    """A step of training of `network`."""
    optimizer = optimizer or torch.optim.SGD(network.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad(set_to_none=True)
        network(*inputs).float().square().mean().backward()
        optimizer.step()

    return step


def blocks(count=2, size=256, dtype=torch.float32):
    return torch.nn.Sequential(*(Block(size) for _ in range(count))).cuda().to(dtype)


def rows(count=512, size=256, dtype=torch.float32):
    return torch.randn(count, size, device="cuda", dtype=dtype)


def compiled():
    return training(torch.compile(blocks()), rows())


def compiled_graphs():
    return training(torch.compile(blocks(), mode="reduce-overhead"), rows())


def dynamic_shapes():
    network = torch.compile(blocks(), dynamic=True)
    inputs = [rows(count) for count in (128, 192, 384)]

    def step():
        for x in inputs:
            network(x).mean().backward()

    return step


def graph_break():
    class Broken(Block):
        def forward(self, x):
            y = self.up(self.norm(x))
            torch._dynamo.graph_break()
            return x + self.down(F.gelu(y))

    return training(torch.compile(Broken().cuda()), rows())


def triton_kernel():
    import triton_kernels
    x, y = rows(), rows()
    return lambda: triton_kernels.add(x, y)


def triton_op():
    import triton_kernels
    op = triton_kernels.operator()
    x, y = rows(), rows()
    return lambda: op(x, y).mm(x.t())


def flex_attention():
    from torch.nn.attention.flex_attention import flex_attention as flex
    attention = torch.compile(flex)
    q, k, v = (torch.randn(2, 4, 256, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    return lambda: attention(q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j)).mean().backward()


def attention_backends():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q, k, v = (torch.randn(2, 4, 256, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))

    def step():
        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION,
                        SDPBackend.MATH):
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(q, k, v, is_causal=True).mean().backward()

    return step


def nested_tensors():
    lengths = (100, 40, 220)
    parts = [torch.randn(n, 4 * 64, device="cuda", dtype=torch.bfloat16) for n in lengths]
    jagged = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    linear = torch.nn.Linear(256, 256, device="cuda", dtype=torch.bfloat16)

    def step():
        q = linear(jagged).unflatten(-1, [4, 64]).transpose(1, 2)
        F.scaled_dot_product_attention(q, q, q)

    return step


def float8():
    a = rows(512, 512).to(torch.float8_e4m3fn)
    b = rows(1024, 512).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device="cuda")
    by_row, by_column = torch.ones(512, 1, device="cuda"), torch.ones(1, 1024, device="cuda")

    def step():
        torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        torch._scaled_mm(a, b, scale_a=by_row, scale_b=by_column, out_dtype=torch.bfloat16)

    return step


def amp():
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(),
                                  torch.nn.Flatten(), torch.nn.Linear(32 * 32 * 32, 100)).cuda()
    x = torch.randn(16, 3, 32, 32, device="cuda")
    optimizer, scaler = torch.optim.SGD(network.parameters(), lr=0.01), torch.amp.GradScaler("cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = network(x).float().square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    return step


def optimizers():
    networks = [blocks() for _ in range(3)]
    kinds = [torch.optim.AdamW(networks[0].parameters(), foreach=False, capturable=False),
             torch.optim.AdamW(networks[1].parameters(), foreach=True),
             torch.optim.AdamW(networks[2].parameters(), fused=True)]
    x = rows()
    steps = [training(network, x, optimizer=optimizer) for network, optimizer in zip(networks, kinds)]

    def step():
        for one in steps:
            one()

    return step


def checkpointed():
    from torch.utils.checkpoint import checkpoint
    network = blocks(4)
    x = rows().requires_grad_()

    def step():
        y = x
        for i, block in enumerate(network):
            y = checkpoint(block, y, use_reentrant=i % 2 == 0)
        y.mean().backward()

    return step


def process_group():
    import torch.distributed as dist
    if not dist.is_initialized():
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        dist.init_process_group("nccl", init_method=f"file:///tmp/oplens_store_{os.getpid()}", rank=0, world_size=1)
    return dist


def ddp():
    process_group()
    return training(torch.nn.parallel.DistributedDataParallel(blocks()), rows())


def fsdp():
    dist = process_group()
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    assert dist.is_initialized()
    network = blocks()
    mesh = init_device_mesh("cuda", (1,))
    for block in network:
        fully_shard(block, mesh=mesh)
    fully_shard(network, mesh=mesh)
    return training(network, rows())


def llama_config():
    from transformers import LlamaConfig
    return LlamaConfig(hidden_size=256, intermediate_size=688, num_hidden_layers=2, num_attention_heads=8,
                       num_key_value_heads=4, vocab_size=1024, max_position_embeddings=512)


def llama():
    from transformers import LlamaForCausalLM
    network = LlamaForCausalLM(llama_config()).cuda().to(torch.bfloat16)
    tokens = torch.randint(0, 1024, (2, 128), device="cuda")
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        network(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()

    return step


def generate():
    from transformers import LlamaForCausalLM
    network = LlamaForCausalLM(llama_config()).cuda().to(torch.bfloat16).eval()
    tokens = torch.randint(0, 1024, (2, 32), device="cuda")

    def step():
        with torch.inference_mode():
            network.generate(tokens, max_new_tokens=4, min_new_tokens=4, do_sample=False, pad_token_id=0,
                             cache_implementation="static", disable_compile=True)

    return step


def copies():
    pinned, pageable = torch.randn(1024, 256).pin_memory(), torch.randn(1024, 256)

    def step():
        a = pinned.to("cuda", non_blocking=True)
        b = pageable.to("cuda")
        (a + b).sum().item()

    return step


def allocations():
    return training(blocks(), rows())


def resnet50():
    """As it is trained: channels last, autocast in bfloat16."""
    import torchvision
    network = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    x = torch.randn(16, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    target = torch.randint(0, 1000, (16,), device="cuda")
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(network(x), target)
        loss.backward()
        optimizer.step()

    return step


def max_autotune():
    network = torch.compile(blocks(dtype=torch.bfloat16), mode="max-autotune-no-cudagraphs")
    return training(network, rows(dtype=torch.bfloat16))


def compiled_llama():
    from transformers import LlamaForCausalLM
    network = torch.compile(LlamaForCausalLM(llama_config()).cuda().to(torch.bfloat16))
    tokens = torch.randint(0, 1024, (2, 128), device="cuda")

    def step():
        network.zero_grad(set_to_none=True)
        network(input_ids=tokens, labels=tokens).loss.backward()

    return step


def grouped_products():
    x = rows(512, 256, dtype=torch.bfloat16).requires_grad_()
    experts = torch.randn(4, 256, 384, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    ends = torch.tensor([64, 200, 208, 512], device="cuda", dtype=torch.int32)
    return lambda: F.grouped_mm(x, experts, offs=ends).square().mean().backward()


def variable_lengths():
    from torch.nn.attention.varlen import varlen_attn
    q, k, v = (torch.randn(360, 4, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    starts = torch.tensor([0, 100, 140, 360], device="cuda", dtype=torch.int32)
    return lambda: varlen_attn(q, k, v, starts, starts, 220, 220).sum().backward()


def quantized(config, **options):
    """A program of torchao: blocks whose weights are of fewer bits, as it is told by its class of configuration."""

    def program():
        from torchao import quantization
        network = blocks(dtype=torch.bfloat16).eval()
        quantization.quantize_(network, getattr(quantization, config)(**options))
        x = rows(dtype=torch.bfloat16)

        def step():
            with torch.no_grad():
                network(x)

        return step

    return program


def model(name):
    def program():
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test" / "torch" / "programs"))
        import common
        import models
        models.begin()
        torch.set_default_device("cuda")

        def step():
            flops = common.PROGRAMS[name]()
            if flops:
                print(f"flops {flops}")

        return step

    return program


PROGRAMS = [compiled, compiled_graphs, dynamic_shapes, graph_break, triton_kernel, triton_op, flex_attention,
            attention_backends, nested_tensors, float8, amp, optimizers, checkpointed, ddp, fsdp, llama, generate,
            copies, allocations, resnet50, max_autotune, compiled_llama, grouped_products, variable_lengths]
NAMES = {program.__name__: program for program in PROGRAMS}
NAMES.update(int8_weights=quantized("Int8WeightOnlyConfig"), int8=quantized("Int8DynamicActivationInt8WeightConfig"),
             float8_weights=quantized("Float8WeightOnlyConfig"),
             float8_dynamic=quantized("Float8DynamicActivationFloat8WeightConfig"),
             int4_weights=quantized("Int4WeightOnlyConfig", int4_packing_format="tile_packed_to_4d"))
NAMES.update({f"model_{name}": model(name)
              for name in ("llama", "gemma", "qwen3_moe", "bert", "vit", "whisper", "t5", "mamba", "generated")})


def run(program, kineto):
    torch.manual_seed(1)
    step = program()
    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    if kineto:
        with torch.profiler.profile(record_shapes=True) as profile:
            for _ in range(STEPS):
                step()
            torch.cuda.synchronize()
        profile.export_chrome_trace(kineto)
        return
    torch.cuda.cudart().cudaProfilerStart()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=NAMES)
    parser.add_argument("--kineto", metavar="FILE")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(NAMES))
        return
    if not options.kineto:
        import oplens_annotate
        oplens_annotate.init()  # Before anything is compiled: Inductor's launchers take hooks as they are then.
    run(NAMES[options.name], options.kineto)


if __name__ == "__main__":
    main()
