"""What a rank of a made-up training run does in a step: blocks of operators, and collectives between them.

A run is DP x TP x PP ranks of a transformer: rank = (stage * DP + replica) * TP + shard. Every rank of a stage runs
the same items in the same order, GPipe's: all forward passes of the micro-batches, all backward passes, the update.
"""
import collections
import typing

TOKENS, HIDDEN, HEADS = 2048, 4096, 32
FLOAT, HALF, INT = "float", "c10::BFloat16", "int64_t"

# Streams of the GPU: compute, and one a kind of group.
COMPUTE, TENSOR, DATA, EXPERT, PIPE, OTHER = 7, 20, 24, 26, 28, 32


class Work(typing.NamedTuple):
    """An operator that launches one kernel."""
    name: str
    kernel: str
    nominal_ns: int
    dims: str
    types: str


class Op(typing.NamedTuple):
    """An operator of the forward pass, and the node that runs it backward."""
    forward: Work
    node: str
    backward: tuple[Work, ...]


class Block(typing.NamedTuple):
    """Operators with nothing between them."""
    name: str
    backward: bool
    layer: int
    ops: tuple[Op, ...]
    first_op: int  # Place of the first among those of the forward passes of a step.

    def works(self) -> list[Work]:
        if not self.backward:
            return [op.forward for op in self.ops]
        return [work for op in reversed(self.ops) for work in op.backward]


class Collective(typing.NamedTuple):
    """A call of all members of a group, or one side of a send."""
    kind: str  # A key of KINDS.
    group: str  # "tensor", "data", "expert", "pipe", "world", or a name of --group.
    stream: int
    inputs: int  # Elements that a rank puts in,
    outputs: int  # and gets.
    dtype: str
    transfer_ns: int
    blocks: bool = True  # Compute waits for it.
    peer: int = 0  # Of a send or receive: how many stages further.


class Kind(typing.NamedTuple):
    op: str
    recorded: str
    label: str
    kernel: str


KINDS = {
    "all_reduce": Kind("c10d::allreduce_", "allreduce", "nccl:all_reduce", "ncclDevKernel_AllReduce_Sum_{}_RING_LL"),
    "all_gather": Kind("c10d::_allgather_base_", "_allgather_base", "nccl:_all_gather_base",
                       "ncclDevKernel_AllGather_RING_LL"),
    "reduce_scatter": Kind("c10d::_reduce_scatter_base_", "_reduce_scatter_base", "nccl:_reduce_scatter_base",
                           "ncclDevKernel_ReduceScatter_Sum_{}_RING_LL"),
    "all_to_all": Kind("c10d::alltoall_base_", "all_to_allv", "nccl:all_to_all", "ncclDevKernel_SendRecv"),
    "send": Kind("c10d::send", "send", "nccl:send", "ncclDevKernel_SendRecv"),
    "recv": Kind("c10d::recv_", "recv", "nccl:recv", "ncclDevKernel_SendRecv"),
}


def matrix_product(rows: int, inner: int, columns: int, nominal_ns: int) -> Op:
    def work(m: int, k: int, n: int) -> Work:
        return Work("aten::mm", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", nominal_ns,
                    f"[[{m}, {k}], [{k}, {n}]]", f'["{HALF}", "{HALF}"]')

    return Op(work(rows, inner, columns), "MmBackward0", (work(inner, rows, columns), work(rows, columns, inner)))


def normalisation() -> Op:
    dims, types = f"[[{TOKENS}, {HIDDEN}], [], [{HIDDEN}], [{HIDDEN}], []]", f'["{HALF}", "ScalarList", "{HALF}", "{HALF}", "Scalar"]'
    return Op(
        Work("aten::native_layer_norm", "layer_norm_forward_kernel<c10::BFloat16, float>", 24_000, dims, types),
        "NativeLayerNormBackward0",
        (Work("aten::native_layer_norm_backward", "layer_norm_backward_kernel<c10::BFloat16, float>", 48_000,
              f"[[{TOKENS}, {HIDDEN}], [{TOKENS}, {HIDDEN}], [], [{TOKENS}, 1], [{TOKENS}, 1], [{HIDDEN}], [{HIDDEN}], []]",
              f'["{HALF}", "{HALF}", "ScalarList", "{FLOAT}", "{FLOAT}", "{HALF}", "{HALF}", ""]'),))


def attention(heads: int) -> Op:
    one = f"[1, {heads}, {TOKENS}, {HIDDEN // HEADS}]"
    return Op(
        Work("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel<c10::BFloat16>", 150_000,
             f"[{one}, {one}, {one}, [], [], [], []]",
             f'["{HALF}", "{HALF}", "{HALF}", "Scalar", "Scalar", "Scalar", ""]'),
        "ScaledDotProductFlashAttentionBackward0",
        (Work("aten::_scaled_dot_product_flash_attention_backward", "flash_bwd_kernel<c10::BFloat16>", 320_000,
              f"[{one}, {one}, {one}, {one}, {one}, [1, {heads}, {TOKENS}]]",
              f'["{HALF}", "{HALF}", "{HALF}", "{HALF}", "{HALF}", "{FLOAT}"]'),))


def pointwise(name: str, node: str, columns: int, operands: int, nominal_ns: int) -> Op:
    def work(count: int) -> Work:
        return Work(name, f"vectorized_elementwise_kernel<4, {name[6:]}, c10::BFloat16>", nominal_ns,
                    "[" + ", ".join([f"[{TOKENS}, {columns}]"] * count) + "]",
                    "[" + ", ".join([f'"{HALF}"'] * count) + "]")

    return Op(work(operands), node, (work(2),))


class Program:
    """The items of one step, by stage."""

    def __init__(self, layout: tuple[int, int, int], layers: int, batches: int, pads: int, groups: list[str],
                 experts: bool = False):
        self.replicas, self.shards, self.stages = layout
        self.experts = experts  # The replicas of a shard share the experts of each mlp.
        self.layers, self.batches, self.groups = layers, batches, groups
        pad = pointwise("aten::mul", "MulBackward0", HIDDEN, 2, 16_000)
        share = HIDDEN // self.shards
        self.parts = {
            "attention": (normalisation(), matrix_product(TOKENS, HIDDEN, 3 * share, 170_000 // self.shards + 15_000),
                          attention(max(1, HEADS // self.shards)),
                          matrix_product(TOKENS, share, HIDDEN, 60_000 // self.shards + 15_000)) + (pad,) * pads,
            "mlp": (normalisation(), matrix_product(TOKENS, HIDDEN, 4 * share, 220_000 // self.shards + 15_000),
                    pointwise("aten::gelu", "GeluBackward0", 4 * share, 1, 30_000),
                    matrix_product(TOKENS, 4 * share, HIDDEN, 220_000 // self.shards + 15_000)) + (pad,) * pads,
        }
        self.ops_of_layer = sum(len(ops) for ops in self.parts.values())
        update = Work("aten::_foreach_add_", "multi_tensor_apply_kernel<AdamFunctor>", 90_000, f"[[{HIDDEN}, {share}]]",
                      f'["{FLOAT}"]')
        self.update = Block("Optimizer.step#AdamW.step", False, -1, (Op(update, "", ()),) * 8, -1)

    @property
    def ops_of_step(self) -> int:
        return self.batches * self.layers * self.ops_of_layer

    def _exchange(self, kind: str, group: str, stream: int, elements: int, blocks: bool = True) -> list[Collective]:
        """Nothing where the group is of one rank."""
        ranks = {"tensor": self.shards, "data": self.replicas, "expert": self.replicas}[group]
        if ranks == 1:
            return []
        whole, part = elements, max(1, elements // ranks)
        inputs, outputs = {"all_reduce": (whole, whole), "all_gather": (part, whole), "reduce_scatter": (whole, part),
                           "all_to_all": (whole, whole)}[kind]
        transfer_ns = 12_000 + elements * 2 // 200  # 200 GB/s
        return [Collective(kind, group, stream, inputs, outputs, "BFloat16", transfer_ns, blocks)]

    def _send(self, kind: str, peer: int) -> list[Collective]:
        elements = TOKENS * HIDDEN
        return [Collective(kind, "pipe", PIPE, elements, elements, "BFloat16", 12_000 + elements * 2 // 50,
                           kind == "recv", peer)]

    def _layer(self, batch: int, layer: int, name: str, backward: bool) -> list:
        first = (batch * self.layers + layer) * self.ops_of_layer
        if name == "mlp":
            first += len(self.parts["attention"])
        block = Block(f"layers.{layer}.{name}", backward, layer, self.parts[name], first)
        items = [block] + self._exchange("all_reduce", "tensor", TENSOR, TOKENS * HIDDEN)
        if not self.experts or name != "mlp":
            return items
        tokens = self._exchange("all_to_all", "expert", EXPERT, TOKENS * HIDDEN)
        return tokens + items + tokens

    def forward(self, stage: int, batch: int) -> list:
        items = self._send("recv", -1) if stage > 0 else []
        for layer in range(self.layers):
            items += self._layer(batch, layer, "attention", False) + self._layer(batch, layer, "mlp", False)
        return items + (self._send("send", 1) if stage + 1 < self.stages else [])

    def backward(self, stage: int, batch: int) -> list:
        items = self._send("recv", 1) if stage + 1 < self.stages else []
        for layer in reversed(range(self.layers)):
            items += self._layer(batch, layer, "mlp", True) + self._layer(batch, layer, "attention", True)
            if batch == 0:  # The last one: gradients are complete.
                items += self._exchange("reduce_scatter", "data", DATA, 12 * HIDDEN * HIDDEN // self.shards, False)
        return items + (self._send("send", -1) if stage > 0 else [])

    def finish(self) -> list:
        """The same for all stages."""
        items: list = []
        if self.replicas * self.shards * self.stages > 1:
            items.append(Collective("all_reduce", "world", OTHER, 1, 1, "Float", 20_000))
        items += [Collective("all_reduce", name, OTHER, HIDDEN, HIDDEN, "Float", 25_000) for name in self.groups]
        items.append(self.update)
        for _ in range(self.layers):
            items += self._exchange("all_gather", "data", DATA, 12 * HIDDEN * HIDDEN // self.shards)
        return items

    def step(self, stage: int) -> list:
        """All items in the order in which a rank of the stage runs them."""
        items: list = []
        for batch in range(self.batches):
            items += self.forward(stage, batch)
        for batch in reversed(range(self.batches)):
            items += self.backward(stage, batch)
        return items + self.finish()


def costs_of(block: Block) -> list[tuple[str, int, int]]:
    """Of each operator of a block: name, time and how often."""
    counts = collections.Counter((work.name, work.nominal_ns) for work in block.works())
    return [(name, nominal_ns, count) for (name, nominal_ns), count in counts.items()]
