"""Networks that people train, a step or two of each."""
import torch
from torch import nn
import torch.nn.functional as F

from common import classes, program, train


@program
def mlp():
    network = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    train(network, [torch.rand(4, 6)], classes(3, 4), momentum=0.9)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False),
                                          nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += self.shortcut(x)
        return F.relu(y)


@program
def resnet():
    network = nn.Sequential(
        nn.Conv2d(3, 4, 7, stride=2, padding=3), nn.BatchNorm2d(4), nn.ReLU(inplace=True),
        nn.MaxPool2d(3, stride=2, padding=1), Residual(4, 4, 1), Residual(4, 8, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    train(network, [torch.rand(2, 3, 32, 32)], classes(5, 2), weight_decay=1e-4)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.lstm = nn.LSTM(6, 5, num_layers=2, dropout=0.1, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 4)

    def forward(self, tokens):
        return self.out(self.lstm(self.embedding(tokens))[0]).flatten(0, 1)


@program
def lstm():
    train(Tagger(), [torch.arange(8).reshape(2, 4)], classes(4, 8))


@program
def gru_of_packed_sequences():
    gru = nn.GRU(3, 4, batch_first=True)
    packed = nn.utils.rnn.pack_padded_sequence(torch.rand(3, 5, 3), [5, 3, 2], batch_first=True)
    out, _ = nn.utils.rnn.pad_packed_sequence(gru(packed)[0], batch_first=True)
    out.sum().backward()


@program
def recurrent_cells():
    lstm, gru = nn.LSTMCell(3, 4), nn.GRUCell(4, 4)
    state, out = None, torch.zeros(2, 4)
    for step in range(3):
        state = lstm(torch.rand(2, 3), state)
        out = gru(state[0], out)
    out.sum().backward()


@program
def transformer():
    network = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    mask = network.generate_square_subsequent_mask(3)
    loss = lambda out: out.pow(2).mean()
    step = torch.optim.AdamW(network.parameters())
    loss(network(torch.rand(2, 4, 8), torch.rand(2, 3, 8), tgt_mask=mask)).backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    step.step()


@program
def encoder_in_evaluation():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
    encoder = nn.TransformerEncoder(layer, 2).eval()
    with torch.no_grad():
        encoder(torch.rand(2, 5, 8))


@program
def attention():
    attention = nn.MultiheadAttention(8, 2, bias=True, batch_first=True)
    x = torch.rand(2, 5, 8, requires_grad=True)
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[0, 3:] = True
    out, weights = attention(x, x, x, key_padding_mask=padding)
    (out.sum() + weights.sum()).backward()


@program
def embedding_with_adam():
    network = nn.Sequential(nn.Embedding(30, 4, padding_idx=0), nn.Flatten(), nn.Linear(12, 2))
    train(network, [torch.arange(6).reshape(2, 3)], classes(2, 2), optimizer=torch.optim.Adam)


@program
def embedding_bag():
    bag = nn.EmbeddingBag(10, 3, mode="mean")
    sparse = nn.EmbeddingBag(10, 3, mode="sum", sparse=True)
    tokens, offsets = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 4])
    (bag(tokens, offsets).sum() + sparse(tokens, offsets).sum()).backward()


@program
def parts_called_from_outside():
    """A module that is called by itself after its root, and by itself before it. Before the programs with many modules
    of their own, which use up the time that the adaptor may search for their networks."""

    class Coder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
            self.decoder = nn.Sequential(nn.Linear(4, 3))

        def forward(self, x):
            return self.decoder(self.encoder(x))

    coder = Coder()
    coder(torch.rand(2, 3))
    coder.encoder(torch.rand(2, 3)).sum().backward()
    coder.decoder[0](torch.rand(2, 4))
    coder = Coder()
    coder.decoder(torch.rand(2, 4))
    coder(torch.rand(2, 3)).sum().backward()


@program
def norms():
    x = torch.rand(2, 6, 4, 4, requires_grad=True)
    total = torch.zeros(())
    for norm in (nn.BatchNorm2d(6), nn.GroupNorm(3, 6), nn.InstanceNorm2d(6, affine=True),
                 nn.LayerNorm([4, 4]), nn.LocalResponseNorm(2)):
        total = total + norm(x).pow(2).sum()
    nn.utils.weight_norm(nn.Linear(4, 3))(x).sum().backward()
    nn.utils.spectral_norm(nn.Linear(4, 3))(x.detach()).sum().backward()
    total.backward()


@program
def convolutions():
    total = torch.zeros(())
    for convolution, shape in (
            (nn.Conv1d(2, 4, 3, padding=1, groups=2), (2, 2, 9)),
            (nn.Conv2d(3, 4, (3, 2), stride=2, dilation=(1, 2), padding_mode="circular", padding=1), (1, 3, 8, 8)),
            (nn.Conv3d(2, 3, 2), (1, 2, 4, 5, 6)),
            (nn.ConvTranspose1d(3, 2, 3, stride=2), (2, 3, 5)),
            (nn.ConvTranspose2d(3, 2, 3, stride=2, output_padding=1, bias=False), (2, 3, 5, 5)),
            (nn.ConvTranspose3d(2, 1, 2), (1, 2, 3, 3, 3))):
        total = total + convolution(torch.rand(shape, requires_grad=True)).sum()
    total.backward()


@program
def pooling_and_resizing():
    x = torch.rand(2, 3, 8, 8, requires_grad=True)
    out = [F.max_pool2d(x, 2, return_indices=True)[0], F.avg_pool2d(x, 3, stride=2, ceil_mode=True),
           F.adaptive_max_pool2d(x, 2), F.lp_pool2d(x, 2, 2),
           F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
           F.interpolate(x, size=(5, 5), mode="nearest"), F.pixel_shuffle(x[:, :1].expand(2, 4, 8, 8), 2),
           F.pad(x, (1, 1, 0, 2), mode="reflect"), F.pad(x, (1, 2), value=3.5),
           F.unfold(x, 3, padding=1),
           F.grid_sample(x, torch.rand(2, 4, 4, 2) * 2 - 1, align_corners=False)]
    sum(y.sum() for y in out).backward()


@program
def losses():
    x, y = torch.rand(4, 5, requires_grad=True), torch.rand(4, 5)
    labels, signs = torch.tensor([0, 4, 2, 2]), torch.tensor([1., -1., 1., 1.])
    many = [F.mse_loss(x, y), F.l1_loss(x, y, reduction="sum"), F.smooth_l1_loss(x, y, beta=0.5),
            F.huber_loss(x, y, delta=0.7), F.binary_cross_entropy(x.sigmoid(), y),
            F.binary_cross_entropy_with_logits(x, y, pos_weight=torch.rand(5)),
            F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
            F.nll_loss(x.log_softmax(1), labels, weight=torch.rand(5), ignore_index=2),
            F.cross_entropy(x, labels, label_smoothing=0.1), F.cross_entropy(x, y.softmax(1)),
            F.cosine_embedding_loss(x, y, signs, margin=0.2),
            F.margin_ranking_loss(x[:, 0], y[:, 0], signs), F.hinge_embedding_loss(x[:, 0], signs),
            F.triplet_margin_loss(x, y, y.flip(0), swap=True), F.poisson_nll_loss(x, y),
            F.gaussian_nll_loss(x, y, torch.ones(4, 1)), F.multi_margin_loss(x, labels, p=2),
            F.soft_margin_loss(x[:, 0], signs), F.multilabel_soft_margin_loss(x, y.round()),
            F.ctc_loss(torch.rand(6, 2, 5).log_softmax(2), torch.tensor([[1, 2], [3, 1]]),
                       torch.tensor([6, 6]), torch.tensor([2, 2]))]
    sum(many).backward()


@program
def activations():
    x = torch.randn(3, 4, requires_grad=True)
    total = torch.zeros(())
    for module in (nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(), nn.Mish(), nn.ELU(0.5), nn.CELU(),
                   nn.SELU(), nn.LeakyReLU(0.3), nn.PReLU(), nn.Softplus(2), nn.Hardswish(),
                   nn.Hardsigmoid(), nn.Hardtanh(-2, 2), nn.Softmax(1), nn.LogSoftmax(0), nn.Softmin(1),
                   nn.Tanhshrink(), nn.Hardshrink(), nn.Softshrink(), nn.Threshold(0.1, 20), nn.GLU(),
                   nn.LogSigmoid(), nn.RReLU(), nn.ReLU6(), nn.Softsign(), nn.AlphaDropout(0.3),
                   nn.Dropout(0.3), nn.Bilinear(4, 4, 2), nn.Softmax2d()):
        inputs = [x, x] if isinstance(module, nn.Bilinear) else [x]
        if isinstance(module, nn.Softmax2d):
            inputs = [x.reshape(3, 2, 2)]
        total = total + module(*inputs).sum()
    total.backward()


@program
def optimizers():
    for optimizer, options in (
            (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}), (torch.optim.SGD, {"foreach": True}),
            (torch.optim.Adam, {"amsgrad": True}), (torch.optim.Adam, {"foreach": True}),
            (torch.optim.AdamW, {"weight_decay": 0.1}), (torch.optim.RMSprop, {"centered": True}),
            (torch.optim.Adagrad, {}), (torch.optim.Adadelta, {}), (torch.optim.NAdam, {}),
            (torch.optim.RAdam, {}), (torch.optim.Rprop, {}), (torch.optim.ASGD, {})):
        weight = torch.rand(2, 3, requires_grad=True)
        step = optimizer([weight, torch.rand(4, requires_grad=True)], lr=0.1, **options)
        for group in step.param_groups:
            sum(parameter.sum() for parameter in group["params"]).backward()
        step.step()
        step.zero_grad(set_to_none=True)


@program
def shared_modules():
    """A module under two paths, and weights under two modules."""

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(7, 4)
            self.block = nn.Linear(4, 4)
            self.again = self.block
            self.out = nn.Linear(4, 7, bias=False)
            self.out.weight = self.embedding.weight

        def forward(self, tokens):
            return self.out(self.again(self.block(self.embedding(tokens))))

    train(Tied(), [torch.arange(5)], classes(7, 5))


@program
def modules_made_in_forward():
    class Maker(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3)

        def forward(self, x):
            return nn.LayerNorm(3)(nn.Sequential(nn.ReLU(), nn.Linear(3, 2), nn.Linear(2, 3))(self.first(x)))

    maker = Maker()
    for _ in range(2):
        maker(torch.rand(2, 3)).sum().backward()


@program
def exceptions():
    class Fails(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x, fails):
            y = self.inner(x)
            if fails == "user":
                raise ValueError("of the user")
            return torch.mm(y, y) if fails == "op" else y.relu()

    class Careful(nn.Module):
        def __init__(self):
            super().__init__()
            self.risky = Fails()
            self.safe = nn.Linear(3, 3)

        def forward(self, x):
            try:
                return self.risky(x, "user")
            except ValueError:
                x = x.neg()  # No layer but this one.
                return self.safe(x)

    network = Fails()
    for fails in ("user", "op", "no"):
        try:
            network(torch.rand(2, 3), fails)
        except (ValueError, RuntimeError):
            torch.rand(2).abs()  # In no layer.
    Careful()(torch.rand(2, 3)).sum().backward()


@program
def generators():
    """A forward that yields, whose modules run when somebody asks for the next."""

    class Yields(nn.Module):
        def __init__(self):
            super().__init__()
            self.stages = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))

        def forward(self, x):
            for stage in self.stages:
                x = stage(x)
                yield x.tanh()

    results = list(Yields()(torch.rand(2, 3)))
    one, two = Yields()(torch.rand(2, 3)), Yields()(torch.rand(2, 3))
    for a, b in zip(one, two):  # In turns.
        results.append(a + b)
    torch.stack(results).sum().backward()
