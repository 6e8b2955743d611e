"""Networks whose weights torchao made of fewer bits: its tensors are subclasses, whose calls PyTorch reports as well as
those that they make."""
import torch
from torch import nn
from torchao import quantization

from common import program


def run(config):
    network = nn.Sequential(nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 32)).to(torch.bfloat16).eval()
    quantization.quantize_(network, config)
    with torch.no_grad():
        network(torch.rand(4, 64, dtype=torch.bfloat16))


@program
def weights_of_int8():
    run(quantization.Int8WeightOnlyConfig())


@program
def weights_of_float8():
    run(quantization.Float8WeightOnlyConfig())


@program
def all_of_int8():
    """Activations too, scaled as they come."""
    run(quantization.Int8DynamicActivationInt8WeightConfig())
