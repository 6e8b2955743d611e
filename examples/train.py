"""Trains a small network on the CPU, or on a GPU where there is one; knows nothing of oplens.

    nsys profile --trace=cuda,nvtx python3 -m oplens_annotate examples/train.py --epochs 1
    nsys export --type sqlite report1.nsys-rep && prof -w 130 -c seq,layer,op,dir,kernel,sil,flops report1.sqlite
"""
import argparse

import torch


class Residual(torch.nn.Module):
    """A convolution beside what goes around it."""

    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class ImageClassifier(torch.nn.Module):
    def __init__(self, channels=8, classes=10):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = torch.nn.Sequential(Residual(channels), Residual(channels))
        self.head = torch.nn.Linear(channels, classes)

    def forward(self, images):
        return self.head(self.blocks(self.stem(images)).mean((2, 3)))


def main():
    parser = argparse.ArgumentParser(description="Trains a small network on random images.")
    parser.add_argument("iterations", nargs="?", type=int, default=2, help="in an epoch; 2 by default")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=4, help="images in a step; 4 by default")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    network = ImageClassifier().to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    for i in range(options.epochs * options.iterations):
        images = torch.randn(options.batch, 3, 16, 16, device=device)
        labels = torch.randint(10, (options.batch,), device=device)
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"iteration {i}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
