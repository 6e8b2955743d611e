"""Optimizers of PyTorch 2 and what stands around them."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from common import program


def network():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))


def steps(optimizer, trained, count=2):
    for _ in range(count):
        trained(torch.rand(4, 6)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def of_all(**options):
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        trained = network()
        more = {"momentum": 0.9} if kind is torch.optim.SGD else {"weight_decay": 0.01}
        steps(kind(trained.parameters(), lr=0.01, **more, **options), trained)


@program
def foreach():
    of_all(foreach=True)


@program
def fused():
    of_all(fused=True)


@program
def one_by_one():
    of_all(foreach=False)


@program
def averaged():
    trained = network()
    average = AveragedModel(trained, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.Adam(trained.parameters())
    for _ in range(3):
        steps(optimizer, trained, 1)
        average.update_parameters(trained)
    average(torch.rand(4, 6))


@program
def clipped_and_accumulated():
    trained = network()
    optimizer = torch.optim.RMSprop(trained.parameters(), foreach=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    for _ in range(2):
        for _ in range(3):
            (trained(torch.rand(4, 6)).square().mean() / 3).backward()
        nn.utils.clip_grad_norm_(trained.parameters(), 1.0, foreach=True)
        nn.utils.clip_grad_value_(trained.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()


@program
def two_optimizers():
    maker, judge = nn.Sequential(nn.Linear(3, 6)), network()
    ours, theirs = torch.optim.AdamW(maker.parameters()), torch.optim.SGD(judge.parameters(), lr=0.1)
    for _ in range(2):
        judge(maker(torch.rand(4, 3))).mean().backward()
        ours.step()
        theirs.zero_grad()
        judge(maker(torch.rand(4, 3)).detach()).mean().neg().backward()
        theirs.step()
        ours.zero_grad()


@program
def optimizer_in_backward():
    trained = network()
    optimizers = {parameter: torch.optim.SGD([parameter], lr=0.1) for parameter in trained.parameters()}

    def step(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in trained.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    trained(torch.rand(4, 6)).sum().backward()
