"""The trace of one rank of a made-up run, as PyTorch's profiler writes it, step by step."""
import json
import typing

from rank_program import COMPUTE, KINDS, Block, Collective, Op, Program, Work
from rank_times import GAP_NS, LAUNCH_NS, OP_HOST_NS, Item, Run, scaled

BASE_NS = 1_700_000_000_000_000_000
FIRST_NS = 5_000_000_000  # Of the common clock on the clock of a trace.
LISTED_RANKS = 30  # Of a larger group the others are left out of its text.


class Clock(typing.NamedTuple):
    """How the clock of a rank differs from the common one."""
    offset_ns: int = 0
    drift_ppb: int = 0

    def text(self, time_ns: int) -> str:
        """Microseconds."""
        local_ns = FIRST_NS + time_ns + self.offset_ns + time_ns * self.drift_ppb // 1_000_000_000
        return f"{local_ns // 1000}.{local_ns % 1000:03d}"


class Group(typing.NamedTuple):
    name: str
    description: str
    ranks: list[int]

    def text(self) -> str:
        first = self.ranks if len(self.ranks) <= LISTED_RANKS else self.ranks[:LISTED_RANKS - 1]
        listed = ", ".join(str(rank) for rank in first)
        return f"[{listed}]" if len(first) == len(self.ranks) else f"[{listed}, ..., {self.ranks[-1]}]"


def groups_of_run(run: Run, names: list[str]) -> dict[tuple[str, int], Group]:
    """By kind and member: the groups are numbered in the order in which a program makes them."""
    groups = {}
    number = 0
    for kind in ["world", "tensor", "data", "expert", "pipe"] + names:
        for ranks in run.groups_of(kind):
            description = {"world": "default_pg", "tensor": "mesh_tp", "data": "mesh_dp", "expert": "mesh_ep",
                           "pipe": "mesh_pp"}.get(kind, kind)
            if len(ranks) > 1 or kind == "world":
                for rank in ranks:
                    groups[kind, rank] = Group(str(number), description, ranks)
                number += 1
    return groups


def length(duration_ns: int) -> str:
    return f"{duration_ns // 1000}.{duration_ns % 1000:03d}"


class RankTrace:
    """Writes the events of a rank. What it keeps does not grow with their number."""

    def __init__(self, rank: int, run: Run, groups: dict[tuple[str, int], Group], clock: Clock, sequence: bool,
                 node_ranks: int = 0):
        self.rank, self.run, self.clock, self.sequence = rank, run, clock, sequence
        self.groups = {kind: group for (kind, member), group in groups.items() if member == rank}
        self.program: Program = run.program
        self.items = [item for item in self.program.step(run.stage_of(rank))
                      if isinstance(item, Block) or item.group in self.groups]
        self.pid = 4000 + rank
        self.node_ranks = node_ranks
        self.device = rank % 8
        self.correlation = 0
        self.calls: dict[tuple[str, bool], int] = {}  # By group, and whether it is a send or receive.
        self.collectives = 0  # That were written or left out.
        self.lines: list[str] = []

    def collectives_of_step(self) -> int:
        return sum(isinstance(item, Collective) for item in self.items)

    def head(self) -> str:
        groups = [{"pg_name": group.name, "pg_desc": group.description, "backend_config": "cuda:nccl",
                   "pg_size": len(group.ranks), "ranks": group.ranks} for group in self.groups.values()]
        world = len(self.run.ranks)
        facts = {
            "schemaVersion": 1,
            "deviceProperties": [{"id": self.device, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000,
                                  "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
                                  "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
                                  "sharedMemPerBlock": 49152, "numSms": 132, "sharedMemPerMultiprocessor": 233472}],
            "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": world, "pg_count": len(groups),
                                "pg_config": groups, "nccl_version": "2.21.5"},
            "record_shapes": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS,
        }
        if self.node_ranks:
            facts["host_name"] = f"node{self.rank // self.node_ranks}"
        return "{\n" + "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in facts.items()) + \
            '  "traceEvents": [\n'

    def tail(self) -> str:
        return f'  {{"name": "process_name", "ph": "M", "ts": 0.000, "pid": {self.pid}, "tid": 0, "args": {{"name": "python3"}}}}\n]}}\n'

    def step(self, number: int, times: list[Item], keep: int) -> str:
        """The events of a step; of its collectives, those that are not among the first `keep` of the run are left
        out."""
        self.lines = []
        rank = self.run.ranks[self.rank]
        begin_ns = rank.begin_ns - 5_000
        end_ns = max(max(item.end_ns for item in times), times[-1].host_ns) + 15_000
        self._range("user_annotation", f"ProfilerStep#{number}", begin_ns, end_ns)
        host_ns = rank.begin_ns
        for pause in rank.pauses:
            python = '"Python id": 0, "Python parent id": null' if pause.category == "python_function" else ""
            self._range(pause.category, pause.name, host_ns, host_ns + pause.length_ns, python)
            host_ns += pause.length_ns
        for item, when in zip(self.items, times):
            if isinstance(item, Block):
                self._block(number, item, when)
            else:
                if self.collectives < keep:
                    self._collective(item, when)
                self.collectives += 1
        self.correlation += 1
        wait_ns = max(begin_ns, times[-1].host_ns + 100_000)
        self._call("cudaDeviceSynchronize", self.pid, wait_ns, max(1_000, end_ns - wait_ns - 2_000))
        return "".join(self.lines)

    def _range(self, category: str, name: str, start_ns: int, end_ns: int, arguments: str = "") -> None:
        self.lines.append(f'  {{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {self.pid}, "tid": {self.pid}, '
                          f'"ts": {self.clock.text(start_ns)}, "dur": {length(end_ns - start_ns)}, "args": {{{arguments}}}}},\n')

    def _call(self, name: str, tid: int, start_ns: int, duration_ns: int) -> None:
        number = self.correlation
        self.lines.append(
            f'  {{"ph": "X", "cat": "cuda_runtime", "name": "{name}", "pid": {self.pid}, "tid": {tid}, '
            f'"ts": {self.clock.text(start_ns)}, "dur": {length(duration_ns)}, "args": {{"External id": {number}, '
            f'"cbid": 211, "correlation": {number}}}}},\n')

    def _launch(self, name: str, stream: int, tid: int, host_ns: int, start_ns: int, duration_ns: int,
                arguments: str = "") -> None:
        """The API call, the kernel, and the arrow between them."""
        number = self.correlation
        self._call("cudaLaunchKernel", tid, host_ns, 4_000)
        self.lines.append(
            f'  {{"ph": "s", "id": {number}, "pid": {self.pid}, "tid": {tid}, "ts": {self.clock.text(host_ns)}, '
            f'"cat": "ac2g", "name": "ac2g"}},\n'
            f'  {{"ph": "X", "cat": "kernel", "name": "{name}", "pid": {self.device}, "tid": {stream}, '
            f'"ts": {self.clock.text(start_ns)}, "dur": {length(duration_ns)}, "args": {{"External id": {number}, '
            f'"queued": 0, "device": {self.device}, "context": 1, "stream": {stream}, "correlation": {number}, '
            f'"registers per thread": 64, "shared memory": 0, "blocks per SM": 4, "warps per SM": 32, '
            f'"grid": [528, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 50{arguments}}}}},\n'
            f'  {{"ph": "f", "id": {number}, "pid": {self.device}, "tid": {stream}, "ts": {self.clock.text(start_ns)}, '
            f'"cat": "ac2g", "name": "ac2g", "bp": "e"}},\n')

    def _op(self, name: str, tid: int, start_ns: int, duration_ns: int, arguments: str) -> None:
        self.lines.append(
            f'  {{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": {self.pid}, "tid": {tid}, '
            f'"ts": {self.clock.text(start_ns)}, "dur": {length(duration_ns)}, "args": {{"External id": '
            f'{self.correlation}{arguments}}}}},\n')

    def _block(self, step: int, block: Block, when: Item) -> None:
        host_ns, start_ns = when.host_ns, when.start_ns
        calls = len(block.works())
        if block.layer < 0:
            self._range("user_annotation", block.name, host_ns, host_ns + calls * OP_HOST_NS)
        elif not block.backward:
            # A module of its own for each layer and part.
            module = 2 * block.layer + block.name.endswith("mlp")
            self._range("python_function", f"nn.Module: Block_{module}", host_ns, host_ns + calls * OP_HOST_NS,
                        f'"Python id": {self.correlation + 1}, "Python parent id": null, "Python module id": {module}')
        first = step * self.program.ops_of_step + block.first_op
        for place in reversed(range(len(block.ops))) if block.backward else range(len(block.ops)):
            op = block.ops[place]
            sequence = first + place if block.layer >= 0 else -1
            works = op.backward if block.backward else (op.forward,)
            if block.backward:
                self._node(op, sequence, host_ns, len(works) * OP_HOST_NS - 1_000)
            for work in works:
                start_ns = self._work(step, work, block, sequence, host_ns, start_ns, when.speed)
                host_ns += OP_HOST_NS

    def _node(self, op: Op, sequence: int, host_ns: int, duration_ns: int) -> None:
        self.correlation += 1
        self._op(f"autograd::engine::evaluate_function: {op.node}", self.pid + 1, host_ns, duration_ns,
                 f', "Sequence number": {sequence}, "Fwd thread id": 1')
        self.lines.append(f'  {{"ph": "f", "id": {sequence}, "pid": {self.pid}, "tid": {self.pid + 1}, '
                          f'"ts": {self.clock.text(host_ns)}, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"}},\n')

    def _work(self, step: int, work: Work, block: Block, sequence: int, host_ns: int, start_ns: int,
              speed: int) -> int:
        """Answers when the next kernel may begin."""
        backward = block.backward
        self.correlation += 1
        tid = self.pid + backward
        known = f', "Sequence number": {sequence}, "Fwd thread id": 0' if not backward and sequence >= 0 else ""
        self._op(work.name, tid, host_ns + 500, OP_HOST_NS - 2_000,
                 f'{known}, "Input Dims": {self._dims(work)}, "Input type": {work.types}')
        if known:
            self.lines.append(f'  {{"ph": "s", "id": {sequence}, "pid": {self.pid}, "tid": {tid}, '
                              f'"ts": {self.clock.text(host_ns + 500)}, "cat": "fwdbwd", "name": "fwdbwd"}},\n')
        duration_ns = scaled(work.nominal_ns, self.run.speed_of(self.rank, work.name, block.layer, speed, step))
        self._launch(work.kernel, COMPUTE, tid, host_ns + 3_000, start_ns, duration_ns)
        return start_ns + duration_ns + GAP_NS

    def _dims(self, work: Work) -> str:
        """Of wider matrices, if its are."""
        wider = self.run.faults.shapes.get(self.rank)
        if wider is None or work.name != "aten::mm":
            return work.dims
        (rows, inner), (_, columns) = json.loads(work.dims)
        return f"[[{rows}, {inner}], [{inner}, {int(columns * wider)}]]"

    def _collective(self, call: Collective, when: Item) -> None:
        kind, group = KINDS[call.kind], self.groups[call.group]
        own = call.kind in ("send", "recv")
        sequence = self.calls[group.name, own] = self.calls.get((group.name, own), 0) + 1
        self.correlation += 1
        told = f', "Collective name": "{kind.recorded}", "dtype": "{call.dtype}", "In msg nelems": {call.inputs}, ' \
            f'"Out msg nelems": {call.outputs}, "Group size": {len(group.ranks)}, "Process Group Name": "{group.name}", ' \
            f'"Process Group Description": "{group.description}", "Process Group Ranks": "{group.text()}"'
        if own:
            peer = self.rank + call.peer * self.program.replicas * self.program.shards
            told += f', "{"Dst" if call.kind == "send" else "Src"} Rank": {peer}'
        if self.sequence:
            told += f', "Seq": {sequence}'
        element = "float" if call.dtype == "Float" else "c10::BFloat16"
        self._op(kind.op, self.pid, when.host_ns + 1_000, 36_000,
                 f', "Input Dims": [[{call.inputs}]], "Input type": ["{element}"]')
        self._op("record_param_comms", self.pid, when.host_ns + 2_000, 30_000, told)
        self._range("user_annotation", kind.label, when.host_ns + 3_000, when.host_ns + 25_000)
        kernel = kind.kernel.format("f32" if call.dtype == "Float" else "bf16") + "(ncclDevKernelArgsStorage<4096ul>)"
        self._launch(kernel, call.stream, self.pid, when.host_ns + LAUNCH_NS - 5_000, when.start_ns,
                     when.end_ns - when.start_ns, told)
