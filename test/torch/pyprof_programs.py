"""Programs and calls for scripts/check_pyprof.py and pyprof_test.cc: pyprof_programs.py NAME runs a
program, `calls` all of the calls, each in a range "call N", `operators FROM TO` those of PyTorch's
list of operators for tests, with its samples; --list lists the programs, --operators counts that
list."""
import sys
import threading
import types as python_types
import unittest
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(1)

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__.strip("_")] = function
    return function


def _train(network, inputs, loss, steps=2, optimizer=torch.optim.SGD, **options):
    optimizer = optimizer(network.parameters(), lr=0.01, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(network(*inputs)).backward()
        optimizer.step()


@program
def mlp():
    network = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 4))
    target = torch.randint(4, (6,))
    _train(network, [torch.randn(6, 8)], lambda y: F.cross_entropy(y, target), momentum=0.9)


class Residual(nn.Module):
    def __init__(self, channels, inplace):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, groups=2)

    def forward(self, x):
        y = self.second(self.relu(self.norm(self.first(x))))
        y += x
        return self.relu(y)


@program
def resnet():
    network = nn.Sequential(nn.Conv2d(3, 4, 7, stride=2, padding=3), nn.MaxPool2d(3, 2, 1),
                            Residual(4, True), Residual(4, False), nn.AdaptiveAvgPool2d(1),
                            nn.Flatten(), nn.Linear(4, 5))
    target = torch.randint(5, (2,))
    _train(network, [torch.randn(2, 3, 32, 32)], lambda y: F.cross_entropy(y, target))


@program
def convolutions():
    network = nn.ModuleList([
        nn.Conv1d(3, 4, 3), nn.Conv1d(4, 4, 3, groups=2), nn.Conv1d(4, 4, 3, padding="same"),
        nn.ConvTranspose1d(4, 3, 3)])
    x = torch.randn(2, 3, 16)
    for layer in network:
        x = layer(x)
    x.sum().backward()
    image = torch.randn(2, 3, 9, 9, requires_grad=True)
    for layer in (nn.Conv2d(3, 4, 3, padding="same", dilation=2), nn.Conv2d(3, 4, 2, padding="same"),
                  nn.Conv2d(3, 6, (1, 3), groups=3), nn.Conv2d(3, 4, 3, padding_mode="circular", padding=1),
                  nn.Conv2d(3, 4, 3, padding="valid"), nn.ConvTranspose2d(3, 4, 3)):
        layer(image).sum().backward()
    nn.Conv2d(3, 4, 3)(torch.randn(3, 8, 8)).sum().backward()
    F.conv2d(torch.randn(1, 3, 1, 5), torch.randn(2, 3, 1, 3)).sum()
    nn.Conv3d(2, 3, 2)(torch.randn(1, 2, 4, 4, 4)).sum().backward()


@program
def recurrent():
    for network in (nn.LSTM(4, 5, 2, batch_first=True), nn.GRU(4, 5), nn.RNN(4, 5)):
        network(torch.randn(3, 2, 4))[0].sum().backward()
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(3, 2, 4), [3, 1])
    nn.LSTM(4, 5)(packed)[0].data.sum().backward()


@program
def cells():
    x = torch.randn(2, 4)
    for cell in (nn.LSTMCell(4, 5), nn.GRUCell(4, 5), nn.RNNCell(4, 5)):
        state = cell(x)
        state = cell(x, state)
        (state[0] if isinstance(state, tuple) else state).sum().backward()


@program
def transformer():
    network = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
    _train(network, [torch.randn(2, 5, 8)], lambda y: y.pow(2).mean(), optimizer=torch.optim.AdamW)
    network.eval()
    with torch.no_grad():
        network(torch.randn(2, 5, 8))


@program
def attention():
    network = nn.MultiheadAttention(8, 2)
    x = torch.randn(5, 2, 8, requires_grad=True)
    network(x, x, x, attn_mask=torch.zeros(5, 5).bool())[0].sum().backward()
    query, key, value = (torch.randn(2, 2, 5, 4, requires_grad=True) for _ in range(3))
    scores = query @ key.transpose(-2, -1) / 2.0
    scores = scores.masked_fill(torch.ones(5, 5).tril() == 0, float("-inf"))
    (F.softmax(scores, dim=-1) @ value).sum().backward()


@program
def embedding():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(20, 6, padding_idx=0)
            self.bag = nn.EmbeddingBag(20, 6)
            self.head = nn.Linear(12, 3)

        def forward(self, x):
            return self.head(torch.cat([self.words(x).mean(1), self.bag(x)], dim=1))

    _train(Words(), [torch.randint(20, (4, 7))], lambda y: y.logsumexp(1).sum(),
           optimizer=torch.optim.Adam)


@program
def checkpoints():
    layers = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    for reentrant in (True, False):
        x = torch.randn(3, 4, requires_grad=True)
        y = checkpoint(layers, x * 2, use_reentrant=reentrant)
        y.mul_(3).add_(1).sum().backward()


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        y = x.mul(scale)
        y[y < 0] = 0
        return y * (x > 0) * (1 - x)

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        g = torch.mul(gradient, ctx.scale)
        g.mul_(x > 0).add_(gradient).sub_(1).div_(2)
        g = (1 - g).remainder(3)
        return torch.lerp(g, gradient, 0.5), None


@program
def custom():
    x = torch.randn(3, 4, requires_grad=True)
    Scaled.apply(x.exp(), 2.0).sum().backward()


@program
def double_backward():
    x = torch.randn(3, 4, requires_grad=True)
    network = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    gradient, = torch.autograd.grad(network(x).sum(), x, create_graph=True)
    ((gradient.norm(2, dim=1) - 1) ** 2).mean().backward()


@program
def hooks():
    x = torch.randn(3, 4, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda gradient: (gradient.clamp(-1, 1) * 2 > 0).float())
    y.register_hook(lambda gradient: 1 - gradient)
    (y.sin() + y.mul(2)).sum().backward()
    (y.detach() * x).sum().backward()
    network = nn.Linear(4, 4)
    network.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
    network(x).sum().backward()


@program
def optimizers():
    for kind, options in ((torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
                          (torch.optim.Adam, {"amsgrad": True}), (torch.optim.AdamW, {}),
                          (torch.optim.Adam, {"foreach": True}), (torch.optim.SGD, {"foreach": True}),
                          (torch.optim.Adagrad, {}), (torch.optim.RMSprop, {"centered": True}),
                          (torch.optim.Adadelta, {}), (torch.optim.Adamax, {}), (torch.optim.NAdam, {}),
                          (torch.optim.RAdam, {}), (torch.optim.Rprop, {}), (torch.optim.ASGD, {})):
        network = nn.Linear(4, 3)
        _train(network, [torch.randn(2, 4)], lambda y: y.pow(2).sum(), optimizer=kind, **options)
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)


@program
def losses():
    x = torch.randn(4, 5, requires_grad=True)
    y, classes = torch.randn(4, 5), torch.randint(5, (4,))
    sign = torch.tensor([1.0, -1.0, 1.0, -1.0])
    for loss in (
            nn.MSELoss()(x, y), nn.MSELoss(reduction="sum")(x, y), F.mse_loss(x, y, reduction="none").sum(),
            nn.L1Loss()(x, y), nn.SmoothL1Loss()(x, y), nn.HuberLoss()(x, y),
            nn.CrossEntropyLoss(label_smoothing=0.1)(x, classes), nn.NLLLoss()(x.log_softmax(1), classes),
            nn.BCELoss()(x.sigmoid(), y.sigmoid()), nn.BCEWithLogitsLoss()(x, y.sigmoid()),
            nn.KLDivLoss(reduction="batchmean")(x.log_softmax(1), y.softmax(1)),
            nn.PoissonNLLLoss()(x, y.exp()), nn.HingeEmbeddingLoss()(x, y.sign()),
            nn.CosineEmbeddingLoss()(x, y, sign), nn.MarginRankingLoss()(x[:, 0], y[:, 0], sign),
            nn.TripletMarginLoss()(x, y, y + 1), nn.MultiMarginLoss()(x, classes),
            nn.SoftMarginLoss()(x, y.sign()), nn.GaussianNLLLoss()(x, y, torch.ones(4, 5)),
            nn.CTCLoss()(x.log_softmax(1).unsqueeze(1), torch.tensor([[1, 2]]), (4,), (2,))):
        loss.backward(retain_graph=True)


@program
def activations():
    for layer in (nn.ReLU(), nn.ReLU6(), nn.LeakyReLU(), nn.ELU(), nn.CELU(), nn.SELU(), nn.GELU(),
                  nn.SiLU(), nn.Mish(), nn.Hardtanh(), nn.Hardswish(), nn.Hardsigmoid(), nn.Softplus(),
                  nn.Softshrink(), nn.Hardshrink(), nn.Softsign(), nn.Tanhshrink(), nn.LogSigmoid(),
                  nn.Threshold(0.1, 2.0), nn.RReLU(), nn.GLU(), nn.PReLU(), nn.Sigmoid(), nn.Tanh(),
                  nn.Softmax(1), nn.LogSoftmax(1), nn.Softmin(1)):
        layer(torch.randn(3, 4, requires_grad=True) * 1).sum().backward()
    for layer in (nn.ReLU(True), nn.LeakyReLU(inplace=True), nn.ELU(inplace=True), nn.Hardtanh(inplace=True),
                  nn.SiLU(True), nn.ReLU6(True), nn.Threshold(0.1, 2.0, True)):
        layer(torch.randn(3, 4, requires_grad=True) * 1).sum().backward()


@program
def normalizations():
    x = torch.randn(2, 4, 5, requires_grad=True)
    for layer in (nn.BatchNorm1d(4), nn.InstanceNorm1d(4), nn.LayerNorm(5), nn.GroupNorm(2, 4),
                  nn.LocalResponseNorm(2), nn.BatchNorm1d(4).eval()):
        layer(x).sum().backward()
    F.normalize(x).sum().backward()


@program
def pools():
    for layer in (nn.MaxPool1d(2), nn.AvgPool1d(2), nn.AdaptiveAvgPool1d(2), nn.AdaptiveMaxPool1d(2),
                  nn.LPPool1d(2, 2)):
        layer(torch.randn(2, 3, 8, requires_grad=True)).sum().backward()
    for layer in (nn.MaxPool2d(2, return_indices=True), nn.AvgPool2d(2), nn.Upsample(scale_factor=2),
                  nn.Upsample(scale_factor=2, mode="bilinear"), nn.PixelShuffle(2), nn.ZeroPad2d(1),
                  nn.ReflectionPad2d(1), nn.Unfold(2)):
        y = layer(torch.randn(2, 4, 8, 8, requires_grad=True))
        (y[0] if isinstance(y, tuple) else y).sum().backward()


@program
def pointwise():
    x = (torch.rand(3, 4) / 2 + 0.2).requires_grad_()
    for name in ("abs neg reciprocal exp log log10 log1p log2 rsqrt sqrt ceil floor frac round sign trunc acos "
                 "asin atan cos cosh sin sinh tan sigmoid tanh erf erfc erfinv expm1 digamma lgamma square "
                 "positive asinh logit").split():
        getattr(torch, name)(x).sum().backward()
    y, row = torch.rand(3, 4) + 1, torch.rand(4, requires_grad=True)
    for name in "add sub mul div remainder fmod pow atan2 maximum minimum true_divide multiply subtract".split():
        getattr(torch, name)(x, row if name != "remainder" else y).sum().backward()
    (x + 1 - (2 - x) * 3 / (1 / x) ** 2 + 2 ** x + -x + x % 2 + abs(x)).sum().backward()
    torch.add(x, y, alpha=2).sub(y, alpha=3).sum().backward()
    torch.addcmul(x, y, y, value=2).addcdiv(y, y).lerp(y, 0.3).sum().backward()
    x.clamp(0, 1).clamp(min=0.1).clamp_max(2).sum().backward()
    z = x * 1
    z += y
    z -= 1
    z *= 2
    z /= y
    z.mul_(y).add_(y, alpha=2).sub_(y).div_(y).pow_(2).neg_().clamp_(0, 1)
    z.sum().backward()
    flags = (x > 0) & (x < 1) | (x == 0.5) ^ (x != 1) | ~(x >= 2) | (x <= 3)
    (x * flags).sum().backward()
    torch.where(flags, x, y).sum().backward()
    (x // 2, y.mvlgamma(1), x.bool() + 1, True + x, x * True, torch.logical_and(flags, flags))


@program
def matrices():
    a, b = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)
    batch = torch.randn(2, 3, 4, requires_grad=True)
    for result in (torch.mm(a, b), a @ b, a.matmul(b), torch.addmm(torch.ones(5), a, b, beta=2, alpha=3),
                   torch.bmm(batch, batch.transpose(1, 2)), torch.baddbmm(torch.ones(1), batch, batch.mT),
                   a @ b[:, 0], a[0] @ b, a[0] @ a[1], batch @ b, torch.einsum("ij,jk->ik", a, b),
                   F.linear(batch, a), F.linear(a, torch.ones(4)), torch.mv(a, b[:, 0]), torch.outer(a[0], a[1]),
                   F.bilinear(a, a, torch.randn(2, 4, 4)), torch.linalg.multi_dot([a, b]),
                   torch.addmm(torch.ones(()), a, b), torch.chain_matmul(a, b), torch.tensordot(a, b, 1)):
        result.sum().backward()


@program
def reductions():
    x = torch.randn(3, 4, requires_grad=True)
    for result in (x.sum(), x.sum(1), x.sum(dim=(0, 1), keepdim=True), x.mean(), x.mean(-1), x.mean((0, 1)),
                   torch.mean(x, dim=1, keepdim=True), x.norm(), torch.norm(x, 2, 1), x.std(), x.var(1), x.prod(),
                   x.max(), x.max(1)[0], x.min(1)[0], x.logsumexp(1), x.cumsum(1), x.topk(2)[0], x.sort()[0],
                   x.median(), torch.linalg.vector_norm(x), x.sum().sum(), x.sum().mean(), x.amax(1)):
        result.sum().backward()
    (x > 0).any(), (x > 0).all(), torch.any(x > 0), (x > 0).any(1), (x > 0).sum(), x.argmax(1)
    torch.tensor(1.0).sum(), torch.tensor(True).any(), x.double().sum(dtype=torch.float32)


@program
def shapes():
    x = torch.randn(3, 4, requires_grad=True)
    index = torch.tensor([[0, 1], [1, 0], [2, 1]])
    for result in (torch.cat([x, x]), torch.cat([x, x], 1), torch.cat([x]), torch.cat([x, x.double()]),
                   torch.stack([x, x], dim=1), x.view(-1), x.reshape(4, 3), x.reshape((2, -1)), x.t(),
                   x.permute(1, 0).contiguous(), x.expand(2, 3, 4), x.repeat(2, 1), x[1:, ::2], x[0], x[index],
                   x.gather(1, index % 4), torch.gather(x, 1, index % 4), x.index_select(0, index[:, 0]),
                   torch.index_select(x, -1, index[:, 1].int()), x.masked_select(x > 0),
                   x.masked_select((x > 0).byte()), x.flip(0), x.roll(1, 0), x.tril(), x.clone(), x.chunk(2, 1)[0],
                   x.split(2)[0], x.split([1, 2])[1], x.unbind()[0], x.narrow(0, 1, 2), x.diagonal(),
                   torch.broadcast_tensors(x, torch.ones(2, 3, 4))[0], x.unsqueeze(0).squeeze()):
        result.sum().backward()
    y = torch.zeros(3, 4)
    y.masked_scatter_((x > 0).byte(), x.detach()).masked_scatter_(x > 0, x.detach())
    y.copy_(x.detach()), y.copy_(torch.ones(4)), y.copy_(torch.tensor(3)), y.fill_(2), y.zero_()
    y[0] = x.detach()[1]
    y[1] = 4
    y.scatter_(1, index % 4, 1.0), y.index_add_(0, index[:, 0], x.detach()), y.index_fill_(0, index[:, 0], 1)
    x.detach().nonzero(), torch.nonzero(x.detach(), as_tuple=True), y.sum().item()
    z = x * 1
    z[0].mul_(2)
    z[:, 1] = 5
    z.sum().backward()


@program
def creation():
    torch.zeros(2, 3), torch.ones((2, 3)), torch.zeros([]), torch.full((2, 3), 1.5), torch.full((2,), True)
    torch.zeros(2, dtype=torch.int64), torch.randperm(5), torch.randperm(5, dtype=torch.int32), torch.arange(5)
    x = torch.rand(2, 3)
    torch.zeros_like(x), torch.ones_like(x, dtype=torch.float64), torch.ones_like(x.sum()), torch.full_like(x, 2)
    x.new_zeros(2), x.new_full((2,), 3.0), torch.eye(3), torch.linspace(0, 1, 5), torch.randint(3, (2, 2))
    torch.empty(2).normal_().uniform_().bernoulli_(), torch.tensor([1, 2]), torch.bernoulli(x), torch.randn_like(x)
    torch.zeros(0, 3).sum(), torch.ones(2, 0) + 1, torch.cat([torch.zeros(0), x.view(-1)])


@program
def types():
    x = torch.randn(3, 4, requires_grad=True)
    for kind in (torch.half, torch.bfloat16, torch.double, torch.float):
        (x.to(kind) * 2).sum().backward()
    x.half(), x.float(), x.double(), x.int(), x.long(), x.short(), x.char(), x.byte(), x.bool(), x.bfloat16()
    x.to(torch.ones(2).double()), x.type(torch.float64), x.to("cpu", torch.float64), x.type_as(torch.ones(1).int())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))(x).sum().backward()
    y = torch.randn(3, 4, dtype=torch.complex64, requires_grad=True)
    ((y * y).abs().sum() + (y @ y.mH).real.sum() + (x * 1j).abs().sum()).backward()
    torch.fft.fft(x).abs().sum().backward()
    torch.quantize_per_tensor(x.detach(), 0.1, 3, torch.quint8).dequantize()
    (x.detach().to_sparse() + x.detach().to_sparse()).to_dense()


@program
def threads():
    networks = [nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Sequential(nn.Linear(4, 2), nn.ReLU())]

    def work(network):
        for _ in range(3):
            (network(torch.randn(3, 4)) * 2).sum().backward()

    workers = [threading.Thread(target=work, args=(network,)) for network in networks]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


@program
def script():
    network = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
    x = torch.randn(3, 4)
    for compiled in (torch.jit.script(network), torch.jit.trace(network, x)):
        for _ in range(3):
            compiled(x).mul(2).sum().backward()


@program
def labels():
    """Ranges of the user whose texts PyProf would take for its own."""
    x = torch.randn(3, 4, requires_grad=True)
    for text in ("{'mod': 1, 'op': 2, 'args': [], 'type': 3}", "a, seq = b", "traceMarker", "layer:x", "it's, seq = 3"):
        with torch.autograd.profiler.record_function(text):
            (x * 2).sum().backward()


# Calls of functions that PyProf patches, one by one: name and call. Most are spelled as the module
# of torch.nn or a method's user would; "other spellings" are what the dispatcher cannot tell apart.
def _calls():
    x, y, b = torch.rand(3, 4) + 0.5, torch.rand(3, 4) + 0.5, torch.rand(4)
    w, square, batch = torch.rand(5, 4), torch.rand(4, 4), torch.rand(2, 3, 4)
    image, signal, volume = torch.rand(2, 3, 8, 8), torch.rand(2, 3, 8), torch.rand(1, 2, 4, 4, 4)
    classes, words = torch.tensor([0, 3, 1]), torch.tensor([[1, 2], [3, 0]])
    sign = torch.tensor([1.0, -1.0, 1.0])
    index = torch.tensor([[0, 1], [1, 0], [2, 1]])
    flags, bits = x > 1, torch.tensor([1, 2, 3])
    mean, deviation = torch.zeros(3), torch.ones(3)

    yield "F.linear", lambda: F.linear(x, w, torch.ones(5))
    yield "F.linear without bias", lambda: F.linear(x, w, None)
    yield "F.bilinear", lambda: F.bilinear(x, y, torch.rand(2, 4, 4), torch.rand(2))
    yield "F.conv1d", lambda: F.conv1d(signal, torch.rand(4, 3, 3), None, (1,), (1,), (1,), 1)
    yield "F.conv2d", lambda: F.conv2d(image, torch.rand(4, 3, 3, 3), torch.rand(4), (2, 2), (1, 1), (1, 1), 1)
    yield "F.conv3d", lambda: F.conv3d(volume, torch.rand(3, 2, 2, 2, 2), None, (1, 1, 1), (0, 0, 0), (1, 1, 1), 1)
    yield "F.conv_transpose2d", lambda: F.conv_transpose2d(
        image, torch.rand(3, 4, 3, 3), None, (2, 2), (1, 1), (0, 0), 1, (1, 1))
    yield "F.batch_norm", lambda: F.batch_norm(image, mean, deviation, deviation, mean, True, 0.1, 1e-05)
    yield "F.instance_norm", lambda: F.instance_norm(image, None, None, None, None, True, 0.1, 1e-05)
    yield "F.layer_norm", lambda: F.layer_norm(x, (4,), b, b, 1e-05)
    yield "F.group_norm", lambda: F.group_norm(image, 3, deviation, mean, 1e-05)
    yield "F.dropout", lambda: F.dropout(x, 0.25, True, False)
    yield "F.alpha_dropout", lambda: F.alpha_dropout(x, 0.5, True)
    yield "F.embedding", lambda: F.embedding(words, w, None, None, 2.0, False, False)
    yield "F.max_pool2d", lambda: F.max_pool2d(
        image, 2, 2, padding=0, dilation=1, ceil_mode=False, return_indices=False)
    yield "F.max_pool1d", lambda: F.max_pool1d(
        signal, 2, 2, padding=0, dilation=1, ceil_mode=False, return_indices=False)
    yield "F.avg_pool2d", lambda: F.avg_pool2d(image, 2, 2, 0, False, True, None)
    yield "F.avg_pool1d", lambda: F.avg_pool1d(signal, (2,), (2,), (0,), False, True)
    yield "F.adaptive_avg_pool2d", lambda: F.adaptive_avg_pool2d(image, 1)
    yield "F.adaptive_avg_pool1d", lambda: F.adaptive_avg_pool1d(signal, 2)
    yield "F.pad", lambda: F.pad(image, (1, 1), "constant", 0.5)
    yield "F.pixel_shuffle", lambda: F.pixel_shuffle(torch.rand(1, 4, 2, 2), 2)
    yield "F.one_hot", lambda: F.one_hot(classes, 5)
    yield "F.cosine_similarity", lambda: F.cosine_similarity(x, y, 1, 1e-08)
    yield "F.pairwise_distance", lambda: F.pairwise_distance(x, y, 2.0, 1e-06, False)
    yield "F.relu", lambda: F.relu(x, inplace=False)
    yield "F.relu in place", lambda: F.relu(x.clone(), inplace=True)
    yield "F.relu6", lambda: F.relu6(x, False)
    yield "F.leaky_relu", lambda: F.leaky_relu(x, 0.01, False)
    yield "F.elu", lambda: F.elu(x, 1.0, False)
    yield "F.celu", lambda: F.celu(x, 1.0, False)
    yield "F.selu", lambda: F.selu(x, False)
    yield "F.gelu", lambda: F.gelu(x, approximate="none")
    yield "F.silu", lambda: F.silu(x, inplace=False)
    yield "F.mish", lambda: F.mish(x, inplace=False)
    yield "F.hardtanh", lambda: F.hardtanh(x, -1.0, 1.0, False)
    yield "F.hardswish", lambda: F.hardswish(x, False)
    yield "F.hardsigmoid", lambda: F.hardsigmoid(x, False)
    yield "F.softplus", lambda: F.softplus(x, 1, 20)
    yield "F.softshrink", lambda: F.softshrink(x, 0.5)
    yield "F.hardshrink", lambda: F.hardshrink(x, 0.5)
    yield "F.logsigmoid", lambda: F.logsigmoid(x)
    yield "F.threshold", lambda: F.threshold(x, 0.1, 2.0, False)
    yield "F.glu", lambda: F.glu(x, -1)
    yield "F.prelu", lambda: F.prelu(x, torch.rand(1))
    yield "F.rrelu", lambda: F.rrelu(x, 0.125, 0.25, False, False)
    yield "F.softmax", lambda: F.softmax(x, dim=-1)
    yield "F.log_softmax", lambda: F.log_softmax(x, dim=1)
    yield "F.mse_loss", lambda: F.mse_loss(x, y, reduction="mean")
    yield "F.l1_loss", lambda: F.l1_loss(x, y, reduction="sum")
    yield "F.smooth_l1_loss", lambda: F.smooth_l1_loss(x, y, reduction="mean", beta=1.0)
    yield "F.huber_loss", lambda: F.huber_loss(x, y, reduction="mean", delta=1.0)
    yield "F.nll_loss", lambda: F.nll_loss(x, classes, weight=None, ignore_index=-100, reduction="mean")
    yield "F.cross_entropy", lambda: F.cross_entropy(
        x, classes, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0)
    yield "F.binary_cross_entropy", lambda: F.binary_cross_entropy(x / 2, y / 2, weight=None, reduction="mean")
    yield "F.binary_cross_entropy_with_logits", lambda: F.binary_cross_entropy_with_logits(
        x, y, None, pos_weight=None, reduction="mean")
    yield "F.kl_div", lambda: F.kl_div(x, y, reduction="sum", log_target=False)
    yield "F.poisson_nll_loss", lambda: F.poisson_nll_loss(
        x, y, log_input=True, full=False, eps=1e-08, reduction="mean")
    yield "F.hinge_embedding_loss", lambda: F.hinge_embedding_loss(x, y, margin=1.0, reduction="mean")
    yield "F.soft_margin_loss", lambda: F.soft_margin_loss(x, y, reduction="mean")
    yield "F.cosine_embedding_loss", lambda: F.cosine_embedding_loss(x, y, sign, margin=0.0, reduction="mean")
    yield "F.margin_ranking_loss", lambda: F.margin_ranking_loss(sign, sign, sign, margin=0.0, reduction="mean")
    yield "F.triplet_margin_loss", lambda: F.triplet_margin_loss(
        x, y, y, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction="mean")
    yield "F.multi_margin_loss", lambda: F.multi_margin_loss(
        x, classes, p=1, margin=1.0, weight=None, reduction="mean")

    yield "torch.mm", lambda: torch.mm(x, square)
    yield "torch.bmm", lambda: torch.bmm(batch, torch.rand(2, 4, 5))
    yield "torch.addmm", lambda: torch.addmm(b, x, square, beta=0.5, alpha=2)
    yield "torch.baddbmm", lambda: torch.baddbmm(torch.rand(2, 3, 5), batch, torch.rand(2, 4, 5))
    yield "torch.mv", lambda: torch.mv(x, b)
    yield "torch.dot", lambda: torch.dot(b, b)
    yield "torch.outer", lambda: torch.outer(b, b)
    yield "torch.matmul", lambda: torch.matmul(batch, square)
    yield "torch.einsum", lambda: torch.einsum("ij,jk->ik", x, square)
    yield "torch.cat", lambda: torch.cat([x, y], dim=1)
    yield "torch.stack", lambda: torch.stack([x, y])
    yield "torch.where", lambda: torch.where(flags, x, y)
    yield "torch.clamp", lambda: torch.clamp(x, min=0, max=1)
    yield "torch.gather", lambda: torch.gather(x, 1, index)
    yield "torch.index_select", lambda: torch.index_select(x, 0, classes % 3)
    yield "torch.masked_select", lambda: torch.masked_select(x, flags.byte())
    yield "torch.cumsum", lambda: torch.cumsum(x, 1)
    yield "torch.topk", lambda: torch.topk(x, 2)
    yield "torch.sort", lambda: torch.sort(x)
    yield "torch.tril", lambda: torch.tril(x)
    yield "torch.triu", lambda: torch.triu(x, 1)
    yield "torch.norm", lambda: torch.norm(x)
    yield "torch.addcmul", lambda: torch.addcmul(x, y, y, value=0.5)
    yield "torch.addcdiv", lambda: torch.addcdiv(x, y, y)
    yield "torch.flip", lambda: torch.flip(x, [0, 1])
    yield "torch.logsumexp", lambda: torch.logsumexp(x, 1)
    yield "torch.nonzero", lambda: torch.nonzero(x)
    yield "torch.zeros", lambda: torch.zeros(2, 3)
    yield "torch.ones", lambda: torch.ones(2, 3)
    yield "torch.full", lambda: torch.full((2, 3), 1.5)
    yield "torch.rand", lambda: torch.rand(2, 3)
    yield "torch.randint", lambda: torch.randint(10, (4,))
    yield "torch.randperm", lambda: torch.randperm(7)
    yield "torch.arange", lambda: torch.arange(7)
    yield "torch.zeros_like", lambda: torch.zeros_like(x)
    yield "torch.ones_like", lambda: torch.ones_like(x)
    for name in ("exp log log2 log10 log1p sqrt rsqrt sin cos tan tanh sigmoid floor ceil sign trunc frac reciprocal "
                 "abs erf square isnan").split():
        yield f"torch.{name}", lambda name=name: getattr(torch, name)(x)
    for name in "maximum minimum fmod atan2 logical_and".split():
        yield f"torch.{name}", lambda name=name: getattr(torch, name)(x, y)

    yield "Tensor.__add__", lambda: x + y
    yield "Tensor.__add__ number", lambda: x + 2
    yield "Tensor.__sub__", lambda: x - 0.5
    yield "Tensor.__rsub__", lambda: 1 - x
    yield "Tensor.__mul__", lambda: x * y
    yield "Tensor.__truediv__", lambda: x / 3.0
    yield "Tensor.__mod__", lambda: x % 2
    yield "Tensor.__floordiv__", lambda: x // 2
    yield "Tensor.__pow__", lambda: x ** 2
    yield "Tensor.__neg__", lambda: -x
    yield "Tensor.__gt__", lambda: x > 0
    yield "Tensor.__le__", lambda: x <= y
    yield "Tensor.__eq__", lambda: x == 1
    yield "Tensor.__ne__", lambda: x != y
    yield "Tensor.__and__", lambda: bits & bits
    yield "Tensor.__or__", lambda: bits | 1
    yield "Tensor.__invert__", lambda: ~bits
    yield "Tensor.add_", lambda: x.clone().add_(y, alpha=0.1)
    yield "Tensor.mul_", lambda: x.clone().mul_(0.9)
    yield "Tensor.sub_", lambda: x.clone().sub_(y)
    yield "Tensor.div_", lambda: x.clone().div_(2)
    yield "Tensor.addcmul_", lambda: x.clone().addcmul_(y, y, value=0.001)
    yield "Tensor.addcdiv_", lambda: x.clone().addcdiv_(y, y, value=-0.01)
    yield "Tensor.sqrt_", lambda: x.clone().sqrt_()
    yield "Tensor.clamp_", lambda: x.clone().clamp_(min=0.5)
    yield "Tensor.zero_", lambda: x.clone().zero_()
    yield "Tensor.fill_", lambda: x.clone().fill_(2.5)
    yield "Tensor.copy_", lambda: x.clone().copy_(y)
    yield "Tensor.normal_", lambda: x.clone().normal_(0.0, 0.02)
    yield "Tensor.uniform_", lambda: x.clone().uniform_(-0.5, 0.5)
    yield "Tensor.masked_scatter_", lambda: x.clone().masked_scatter_(flags.byte(), y)
    yield "Tensor.scatter_", lambda: x.clone().scatter_(1, index, 1.0)
    yield "Tensor.index_add_", lambda: x.clone().index_add_(0, classes % 3, y)
    yield "Tensor.clone", lambda: x.clone()
    yield "Tensor.sum", lambda: x.sum()
    yield "Tensor.sum of one", lambda: x.sum(1)
    yield "Tensor.mean", lambda: x.mean()
    yield "Tensor.mean of two", lambda: x.mean((0, 1))
    yield "Tensor.max", lambda: x.max(1)
    yield "Tensor.argmax", lambda: x.argmax(1)
    yield "Tensor.any", lambda: flags.any()
    yield "Tensor.all", lambda: flags.all()
    yield "Tensor.prod", lambda: x.prod()
    yield "Tensor.view", lambda: x.view(2, 6)
    yield "Tensor.reshape", lambda: x.reshape(-1, 2)
    yield "Tensor.permute", lambda: batch.permute(2, 0, 1)
    yield "Tensor.transpose", lambda: x.transpose(0, 1)
    yield "Tensor.t", lambda: x.t()
    yield "Tensor.expand", lambda: x.expand(2, 3, 4)
    yield "Tensor.repeat", lambda: x.repeat(2, 1)
    yield "Tensor.squeeze", lambda: x.squeeze()
    yield "Tensor.unsqueeze", lambda: x.unsqueeze(0)
    yield "Tensor.flatten", lambda: batch.flatten(1)
    yield "Tensor.chunk", lambda: x.chunk(2, 1)
    yield "Tensor.split", lambda: x.split(2)
    yield "Tensor.masked_fill", lambda: x.masked_fill(flags, 0.0)
    yield "Tensor.half", lambda: x.half()
    yield "Tensor.float", lambda: x.float()
    yield "Tensor.double", lambda: x.double()
    yield "Tensor.long", lambda: x.long()
    yield "LSTMCell.forward", _forward_of(nn.LSTMCell(4, 5), torch.rand(3, 4), (torch.rand(3, 5), torch.rand(3, 5)))
    yield "GRUCell.forward", _forward_of(nn.GRUCell(4, 5), torch.rand(3, 4), torch.rand(3, 5))
    yield "LSTM.forward", _forward_of(nn.LSTM(4, 5), batch, (torch.rand(1, 3, 5), torch.rand(1, 3, 5)))

    # Other spellings: the same calls of the dispatcher.
    yield "torch.relu", lambda: torch.relu(x)
    yield "F.relu(x)", lambda: F.relu(x)
    yield "Tensor.relu", lambda: x.relu()
    yield "torch.add", lambda: torch.add(x, y)
    yield "Tensor.add", lambda: x.add(y)
    yield "torch.mul", lambda: torch.mul(x, y)
    yield "Tensor.__radd__", lambda: 1 + x
    yield "Tensor.__rmul__", lambda: 2 * x
    yield "Tensor.__iadd__", lambda: x.clone().__iadd__(y)
    yield "torch.sum", lambda: torch.sum(x)
    yield "torch.mean", lambda: torch.mean(x)
    yield "torch.softmax", lambda: torch.softmax(x, 1)
    yield "Tensor.softmax", lambda: x.softmax(-1)
    yield "Tensor.__matmul__", lambda: x @ square
    yield "Tensor.matmul", lambda: x.matmul(square)
    yield "Tensor.exp", lambda: x.exp()
    yield "torch.clone", lambda: torch.clone(x)
    yield "torch.reshape", lambda: torch.reshape(x, (2, 6))
    yield "F.conv2d(x, w)", lambda: F.conv2d(image, torch.rand(4, 3, 3, 3))
    yield "F.layer_norm(x, shape)", lambda: F.layer_norm(x, (4,))
    yield "F.softmax positional", lambda: F.softmax(x, 1)
    yield "F.max_pool2d(x, 2)", lambda: F.max_pool2d(image, 2)
    yield "F.cross_entropy(x, y)", lambda: F.cross_entropy(x, classes)
    yield "Tensor.sum(dim=1)", lambda: x.sum(dim=1)
    yield "Tensor.view with a tuple", lambda: x.view((2, 6))
    yield "Tensor.clamp positional", lambda: x.clamp(0, 1)
    yield "torch.cat positional", lambda: torch.cat([x, y], 1)
    # Functions of Python alone
    yield "F.softsign", lambda: F.softsign(x)
    yield "F.tanhshrink", lambda: F.tanhshrink(x)
    yield "F.softmin", lambda: F.softmin(x, dim=1)
    yield "F.normalize", lambda: F.normalize(x)
    yield "F.interpolate", lambda: F.interpolate(image, scale_factor=2)
    yield "Tensor.__rtruediv__", lambda: 1 / x
    yield "Tensor.__rpow__", lambda: 2 ** x
    yield "F.gaussian_nll_loss", lambda: F.gaussian_nll_loss(x, y, y)
    yield "RNNCell.forward", _forward_of(nn.RNNCell(4, 5), torch.rand(3, 4), torch.rand(3, 5))
    # Tensors without dimensions, of which PyProf writes the value
    yield "Tensor.__mul__ of 0-d", lambda: x * torch.tensor(2.0)
    yield "torch.ones_like of 0-d", lambda: torch.ones_like(x.sum())


def _forward_of(module, *inputs):
    return lambda: module(*inputs)


@program
def calls():
    for number, (_, call) in enumerate(_calls()):
        with torch.autograd.profiler.record_function(f"call {number}"):
            call()


def _operators():
    # What PyTorch's tests import and use in no sample.
    module = python_types.ModuleType("expecttest")
    module.TestCase, module.ACCEPT = unittest.TestCase, True
    sys.modules.setdefault("expecttest", module)
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


def _run_operators(operators):
    """Each operator as function, method and in place, and its gradient; what fails is no concern."""
    for operator in operators:
        for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.bool):
            try:
                samples = list(operator.sample_inputs("cpu", dtype, requires_grad=dtype not in (torch.int64, torch.bool)))
            except Exception:
                continue
            for sample in samples[:4]:
                for call in (operator.op, operator.method_variant, operator.inplace_variant):
                    try:
                        _run_sample(call, sample, call is operator.inplace_variant)
                    except Exception:
                        pass


def _run_sample(call, sample, in_place):
    first = sample.input * 1 if in_place else sample.input
    result = call(first, *sample.args, **sample.kwargs)
    for tensor in [result] if isinstance(result, torch.Tensor) else result:
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
            (tensor.real if tensor.is_complex() else tensor).sum().backward(retain_graph=True)


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(name for name in PROGRAMS if name != "calls"))
    elif sys.argv[1] == "--operators":
        print(len(_operators()))
    elif sys.argv[1] == "operators":
        _run_operators(_operators()[int(sys.argv[2]):int(sys.argv[3])])
    else:
        PROGRAMS[sys.argv[1]]()
