"""Tensors of all kinds, and functions with arguments of all kinds."""
import torch
import torch.nn.functional as F

from common import program


@program
def sparse():
    dense = torch.tensor([[0., 1.], [2., 0.], [0., 3.]], requires_grad=True)
    coordinates = torch.sparse_coo_tensor([[0, 1], [1, 0]], [3., 4.], (2, 3))
    torch.sparse.mm(coordinates, dense).sum().backward()
    (coordinates + coordinates).coalesce().to_dense()
    if torch.__version__.startswith("1."):  # See untraced.py.
        rows = dense.detach().to_sparse_csr()
        rows @ torch.rand(2, 2)
        rows.values().mul(2)
    torch.sparse.sum(coordinates, 1)
    torch.sparse.softmax(coordinates, 1)


@program
def quantised():
    torch.backends.quantized.engine = "qnnpack"
    x = torch.rand(2, 8)
    q = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
    channels = torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8)
    (q.int_repr(), q.dequantize(), channels.dequantize(), q.reshape(4, 4), F.relu(q), q.q_scale())
    network = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())
    torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear})(x)
    observer = torch.ao.quantization.MinMaxObserver
    network.eval().qconfig = torch.ao.quantization.QConfig(
        activation=observer.with_args(dtype=torch.quint8),
        weight=observer.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric))
    wrapped = torch.ao.quantization.QuantWrapper(network)
    prepared = torch.ao.quantization.prepare(wrapped)
    prepared(x)
    torch.ao.quantization.convert(prepared)(x)
    torch.fake_quantize_per_tensor_affine(x.requires_grad_(), 0.1, 0, 0, 255).sum().backward()


@program
def complex_numbers():
    x = torch.randn(3, 3, dtype=torch.complex64, requires_grad=True)
    y = (x @ x.conj().T * (1 + 2j)).abs() + torch.view_as_real(x).sum(-1) + x.angle() + x.imag
    y.sum().backward()
    torch.full((2,), 1 - 2j).resolve_conj().conj().resolve_conj().mul(torch.tensor(2j))
    torch.polar(torch.rand(2), torch.rand(2)).to(torch.complex128)


@program
def fourier():
    x = torch.rand(4, 8, requires_grad=True)
    (torch.fft.fft(x).abs() + torch.fft.fft2(x, norm="ortho").abs()).sum().backward()
    torch.fft.irfft(torch.fft.rfft(x.detach(), n=10, dim=1), n=10)
    torch.fft.fftshift(torch.fft.fftfreq(5, d=0.5))
    torch.stft(torch.rand(64), 16, hop_length=4, window=torch.hann_window(16), return_complex=True)


@program
def zero_size():
    x = torch.zeros(0, 3, requires_grad=True)
    (F.linear(x, torch.rand(4, 3)).sum() + torch.cat([x, torch.rand(2, 3)]).sum()).backward()
    torch.zeros(2, 0, 3) @ torch.zeros(2, 3, 4)
    torch.zeros(0).sum()
    torch.arange(0).sort()


@program
def five_dimensions():
    x = torch.rand(2, 3, 4, 3, 2, requires_grad=True)
    y = F.max_pool3d(F.batch_norm(x, None, None, training=True), 2, padding=1)
    (y.sum((2, 3, 4), keepdim=True) * x.permute(4, 3, 2, 1, 0).mean()).sum().backward()
    torch.rand(1, 2, 1, 2, 1, 2, 1, 2).sum((0, 3, 5)).squeeze()
    torch.ones((1,) * 20).add(1)


@program
def not_contiguous():
    x = torch.rand(2, 4, 4, 3).permute(0, 3, 1, 2).requires_grad_()
    y = F.conv2d(x, torch.rand(2, 3, 3, 3).to(memory_format=torch.channels_last))
    y.contiguous().view(2, -1).t().matmul(torch.rand(4, 6)[::2]).sum().backward()
    torch.rand(4, 4).t().contiguous().expand(3, 4, 4).clone(memory_format=torch.contiguous_format)


@program
def many_tensors():
    torch.cat([torch.ones(100)] * 300)
    torch.stack([torch.ones(2, i % 2 + 1)[:, :1] for i in range(300)])
    torch.cat([torch.ones(i % 5, 2, dtype=torch.float64) for i in range(300)])
    tensors = [torch.rand(10) for _ in range(300)]
    torch._foreach_add_(tensors, 1.5)
    torch._foreach_mul_(tensors, tensors)
    torch._foreach_addcmul_(tensors, tensors, tensors, 0.5)
    torch._foreach_sqrt(tensors)
    torch._foreach_mul(tensors, [float(i) for i in range(300)])
    torch.block_diag(*[torch.rand(2, i % 3 + 1) for i in range(40)])
    torch.rand(600).split([2] * 300)


@program
def products():
    x, y = torch.rand(3, 4, requires_grad=True), torch.rand(4, 5)
    out = [torch.einsum("ij,jk->ik", x, y), torch.einsum("ij,kj,k->", x, x, torch.rand(3)),
           torch.tensordot(x, y, dims=1), torch.addmm(torch.rand(5), x, y, beta=0.5, alpha=2),
           torch.baddbmm(torch.rand(2, 3, 5), x.expand(2, 3, 4), y.expand(2, 4, 5)), x.mv(torch.rand(4)),
           x @ y, torch.matmul(x, torch.rand(4)), torch.matmul(x.expand(6, 3, 4), y), torch.outer(x[0], x[1]),
           torch.dot(x[0], x[1]), torch.chain_matmul(x, y, torch.rand(5, 2)), torch.kron(x, y), torch.inner(x, x),
           torch.linalg.multi_dot([x, y, torch.rand(5, 2)]), torch.cdist(x, x, p=1.5),
           F.bilinear(x, x, torch.rand(2, 4, 4)), torch.bmm(x.expand(2, 3, 4), y.expand(2, 4, 5))]
    sum(value.sum() for value in out).backward()


@program
def linear_algebra():
    x = torch.rand(3, 3) + 3 * torch.eye(3)
    symmetric = (x @ x.T).requires_grad_()
    (torch.linalg.cholesky(symmetric).sum() + torch.linalg.inv(symmetric).sum()
     + torch.linalg.det(symmetric) + torch.linalg.norm(symmetric, ord="fro")).backward()
    torch.linalg.qr(x), torch.linalg.svd(x, full_matrices=False), torch.linalg.eigh(symmetric.detach())
    torch.linalg.solve(x, torch.rand(3, 2)), torch.linalg.matrix_power(x, 3), torch.matrix_exp(x)
    torch.triu(x, 1), torch.tril(x), torch.trace(x), torch.linalg.lstsq(x, torch.rand(3, 2))
    torch.linalg.solve_triangular(x, torch.rand(3, 2), upper=True, unitriangular=True)
    torch.cholesky_solve(torch.rand(3, 2), x, upper=True)


@program
def flags():
    """Arguments that change what is computed."""
    x = torch.rand(3, 4, requires_grad=True)
    torch.sort(x, dim=0, descending=True, stable=True)
    torch.sort(x, 1), x.argsort(dim=0, descending=True), torch.topk(x, 2, dim=1, largest=False, sorted=False)
    torch.searchsorted(torch.arange(5.), x, right=True), torch.bucketize(x, torch.arange(3.), right=True)
    torch.searchsorted(torch.arange(5.), x, out_int32=True, side="left")
    F.interpolate(x[None, None], scale_factor=2., mode="bicubic", align_corners=True)
    F.grid_sample(x[None, None], torch.rand(1, 2, 2, 2), mode="nearest", padding_mode="border", align_corners=True)
    torch.cumsum(x, 1), torch.cumprod(x, 0), torch.logcumsumexp(x, 1), x.var(0, unbiased=False), x.std(1, keepdim=True)
    torch.var_mean(x, dim=1, unbiased=True), torch.unique(x.detach(), return_inverse=True, return_counts=True)
    torch.div(x, 2, rounding_mode="floor"), torch.sub(x, x, alpha=3), torch.rsub(x, 2, alpha=0.5)
    torch.clamp(x, min=0.2), torch.clamp(x, max=0.8), torch.clamp(x, 0.2, 0.8), torch.nan_to_num(x, nan=1.5, posinf=2.)
    torch.histc(x.detach(), bins=5, min=0, max=1), torch.bincount(torch.tensor([1, 2, 2]), minlength=6)
    torch.kthvalue(x, 2, dim=1, keepdim=True), torch.median(x), torch.quantile(x, 0.3, dim=1, interpolation="lower")
    torch.roll(x, (1, 2), (0, 1)), torch.flip(x, (0, 1)), torch.rot90(x, 3), x.repeat(2, 3), x.tile(2)
    x.repeat_interleave(2, dim=1), torch.gather(x, 1, torch.zeros(3, 1, dtype=torch.int64))
    x.detach().scatter(1, torch.zeros(3, 1, dtype=torch.int64), 2.5, reduce="add")
    torch.scatter_reduce(x.detach(), 0, torch.zeros(1, 4, dtype=torch.int64), x.detach(), "amax", include_self=False)
    x.index_select(1, torch.tensor([0, 2])), x.detach().index_put((torch.tensor([0]),), torch.rand(4), accumulate=True)
    torch.norm(x, p=3, dim=1), F.normalize(x, dim=0), F.one_hot(torch.tensor([0, 2]), 4), F.cosine_similarity(x, x)
    torch.triu_indices(3, 3, offset=1), torch.tril(x, diagonal=-1), x.addcmul(x, x, value=0.25), torch.lerp(x, x, 0.5)
    torch.where(x > 0.5, x, 0.), torch.pow(x, 2), torch.pow(2, x), x ** -1.5, torch.isclose(x, x, rtol=0.1, equal_nan=True)
    torch.logsumexp(x, (0, 1)), torch.argmax(x, 1, keepdim=True), x.any(), x.all(dim=1), torch.prod(x, dim=0)
    torch.fmod(x, 0.3), torch.mul(x, True), x + 1, x.softmax(1, dtype=torch.float64), torch.sum(x, 0, dtype=torch.float64)
    F.gelu(x, approximate="tanh"), F.dropout(x, 0.25, training=True), F.leaky_relu(x, 0.2), F.softplus(x, 3, 10)
    torch.renorm(x, 2, 0, 0.5), torch.bernoulli(x.detach()), torch.multinomial(x.detach(), 2, replacement=True)
    x.max(dim=1), x.min(), torch.aminmax(x, dim=0), torch.diff(x, n=2, dim=1), torch.trapz(x), torch.cross(x[:, :3], x[:, 1:])


@program
def factories():
    torch.zeros(2, 3), torch.ones(2, dtype=torch.int16), torch.full((2, 2), 1.5), torch.full((2,), 3), torch.eye(2, 3)
    torch.arange(5), torch.arange(1, 9, 2), torch.arange(0., 1., 0.25), torch.linspace(0, 1, 5), torch.logspace(0, 2, 3)
    torch.rand(2), torch.randn(2, 2), torch.randint(3, 9, (2, 2)), torch.randperm(4), torch.normal(0., 1., (2, 2))
    torch.tensor([1., 2.]), torch.tensor(float("inf")), torch.as_tensor([1, 2]), torch.from_numpy(__import__("numpy").ones(3))
    torch.empty(2).normal_(float("nan"), 2).uniform_(-1, 1).bernoulli_(0.25).exponential_(0.5).zero_().fill_(float("-inf"))
    x = torch.zeros_like(torch.rand(2, 3), dtype=torch.float64)
    x.new_zeros(4), x.new_full((2,), 7), torch.full_like(x, 2.5), torch.rand_like(x), torch.randint_like(x, 5)
    x.to(torch.bfloat16), x.to("cpu", torch.int32, copy=True), x.half(), x.bool(), x.char(), x.type(torch.uint8), x.long()
    x.clone(), x.detach(), x.numpy(), x.tolist(), x[0, 0].item(), x.cpu(), x.data, torch.meshgrid(torch.arange(2), torch.arange(3))


@program
def data_types():
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.uint8, torch.int8, torch.int16, torch.int32,
                  torch.int64, torch.bool, torch.complex64, torch.complex128):
        x = torch.ones(2, 3, dtype=dtype)
        torch.cat([x, x]).sum()
        x.add(x).to(torch.float32).mul(x)
    torch.add(torch.ones(2, dtype=torch.int32), torch.ones(3, 1, dtype=torch.float64)).eq(2).logical_not().sum()
