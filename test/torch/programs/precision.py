"""Types of numbers beside float32, as PyTorch 2 computes in them."""
import torch
from torch import nn
import torch.nn.functional as F

from common import program


def network():
    return nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.LayerNorm(24), nn.Linear(24, 4))


@program
def autocast_bfloat16():
    mixed = network()
    optimizer = torch.optim.AdamW(mixed.parameters())
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(mixed(torch.rand(8, 16)), torch.arange(8) % 4)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@program
def scaled_float16():
    mixed = network()
    optimizer = torch.optim.SGD(mixed.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.float16):
            loss = mixed(torch.rand(8, 16)).float().square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(mixed.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


@program
def float8():
    x = torch.rand(32, 64).to(torch.float8_e4m3fn)
    weight = torch.rand(48, 64).to(torch.float8_e4m3fn)
    one = torch.tensor(1.0)
    torch._scaled_mm(x, weight.t(), one, one, out_dtype=torch.bfloat16)
    torch._scaled_mm(x, weight.t(), torch.rand(32, 1), torch.rand(1, 48), out_dtype=torch.float32)
    x.to(torch.float32).to(torch.float8_e5m2).float()


@program
def weights_alone_quantised():
    """What torchao calls: the weight is of eight or four bits, what it is multiplied by is not."""
    x = torch.rand(4, 64, dtype=torch.bfloat16)
    eight = torch.randint(-127, 127, (48, 64), dtype=torch.int8)
    torch._weight_int8pack_mm(x, eight, torch.rand(48, dtype=torch.bfloat16))
    four = torch._convert_weight_to_int4pack_for_cpu(torch.randint(0, 15, (48, 64), dtype=torch.int32), 1)
    torch._weight_int4pack_mm_for_cpu(x, four, 32, torch.rand(2, 48, 2, dtype=torch.bfloat16))


@program
def unsigned_and_narrow():
    torch.arange(8).to(torch.uint16).to(torch.int32).add(1)
    torch.arange(8).to(torch.uint32).to(torch.int64)
    torch.rand(4, 4, dtype=torch.bfloat16).mm(torch.rand(4, 4, dtype=torch.bfloat16))
