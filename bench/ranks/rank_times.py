"""When each item of a made-up run begins and ends, on one clock that all ranks share."""
import random
import typing

from rank_faults import Faults, Pause
from rank_program import COMPUTE, Block, Collective, Program, costs_of

OP_HOST_NS = 10_000  # Of an operator on the host,
COLLECTIVE_HOST_NS = 40_000  # and of a call of a collective.
LAUNCH_NS = 9_000  # From the begin of a call on the host to the earliest begin of its kernel.
GAP_NS = 1_000  # Between kernels.


class Item(typing.NamedTuple):
    """When a rank ran an item."""
    start_ns: int
    end_ns: int
    host_ns: int  # When the host began to call it.
    speed: int  # Of a block: millionths of the nominal time that its kernels take.


def scaled(nominal_ns: int, speed: int) -> int:
    return nominal_ns * speed // 1_000_000


class Rank:
    def __init__(self, number: int, seed: str):
        self.number = number
        self.noise = random.Random(f"{seed} {number}")
        self.free_ns = {COMPUTE: 0}
        self.host_ns = 0
        self.items: list[Item] = []
        self.begin_ns = 0  # Of the step, on the host,
        self.pauses: list[Pause] = []  # which it begins with.


class Run:
    """Ranks that go from step to step."""

    def __init__(self, program: Program, groups: dict[str, list[int]], seed: str, noise_percent: float,
                 faults: Faults):
        self.program = program
        self.noise = noise_percent / 100
        self.faults = faults
        count = program.replicas * program.shards * program.stages
        self.ranks = [Rank(number, seed) for number in range(count)]
        self.members = dict(groups)
        self.step = 0
        self._costs: dict[tuple, list[tuple[str, int, int]]] = {}
        self._groups: dict[tuple, list[list[int]]] = {}
        self._sent: dict[int, tuple[Rank, int]] = {}  # By receiver: the place of the send among the sender's items.

    def stage_of(self, number: int) -> int:
        return number // (self.program.replicas * self.program.shards)

    def groups_of(self, name: str) -> list[list[int]]:
        """The groups of a kind, by their ranks."""
        replicas, shards, stages = self.program.replicas, self.program.shards, self.program.stages
        whole = range(len(self.ranks))
        if name == "world":
            return [list(whole)]
        if name in self.members:
            return [self.members[name]]
        if name == "tensor":
            return [list(range(first, first + shards)) for first in whole[::shards]]
        plane = replicas * shards
        if name == "pipe":
            return [list(range(first, len(whole), plane)) for first in range(plane)]
        if name == "expert" and not self.program.experts:
            return []
        return [list(range(stage * plane + shard, (stage + 1) * plane, shards))
                for stage in range(stages) for shard in range(shards)]

    def run_step(self) -> list[list[Item]]:
        """The items of each rank in the next step."""
        program = self.program
        for rank in self.ranks:
            rank.items = []
            rank.begin_ns = rank.host_ns
            rank.pauses = self.faults.pauses_of(rank.number, self.step)
            rank.host_ns += sum(pause.length_ns for pause in rank.pauses)
        for batch in range(program.batches):
            for stage in range(program.stages):
                self._run(program.forward(stage, batch), self._of_stage(stage))
        for batch in reversed(range(program.batches)):
            for stage in reversed(range(program.stages)):
                self._run(program.backward(stage, batch), self._of_stage(stage))
        self._run(program.finish(), self.ranks)
        for rank in self.ranks:  # The host waits for the GPU.
            rank.host_ns = max([rank.host_ns, *rank.free_ns.values()]) + 20_000
        self.step += 1
        return [rank.items for rank in self.ranks]

    def _of_stage(self, stage: int) -> list[Rank]:
        plane = self.program.replicas * self.program.shards
        return self.ranks[stage * plane:(stage + 1) * plane]

    def _run(self, items: list, ranks: list[Rank]) -> None:
        for item in items:
            if isinstance(item, Block):
                self._wait_for_gradients(item, ranks)
                for rank in ranks:
                    self._compute(item, rank)
            elif item.kind == "send":
                for rank in ranks:
                    self._send(item, rank)
            elif item.kind == "recv":
                for rank in ranks:
                    self._receive(item, rank)
            else:
                self._meet(item, ranks)

    def _wait_for_gradients(self, block: Block, ranks: list[Rank]) -> None:
        if block.layer >= 0:
            return
        for rank in ranks:
            rank.free_ns[COMPUTE] = max(rank.free_ns.values())

    def _compute(self, block: Block, rank: Rank) -> None:
        key = (block.name, block.backward)
        if key not in self._costs:
            self._costs[key] = costs_of(block)
        speed = int(1_000_000 * (1 + self.noise * (2 * rank.noise.random() - 1)))
        length_ns = 0
        calls = 0
        for name, nominal_ns, count in self._costs[key]:
            length_ns += (scaled(nominal_ns, self.speed_of(rank.number, name, block.layer, speed, self.step)) + GAP_NS) * count
            calls += count
        start_ns = max(rank.free_ns[COMPUTE], rank.host_ns + LAUNCH_NS)
        rank.items.append(Item(start_ns, start_ns + length_ns, rank.host_ns, speed))
        rank.free_ns[COMPUTE] = start_ns + length_ns
        rank.host_ns += OP_HOST_NS * calls

    def speed_of(self, rank: int, op: str, layer: int, speed: int, step: int) -> int:
        return self.faults.speed_of(rank, op, layer, speed, step)

    def _arrive(self, call: Collective, rank: Rank, needs_data: bool) -> int:
        """When its kernel begins."""
        start_ns = max(rank.free_ns.get(call.stream, 0), rank.host_ns + LAUNCH_NS)
        if needs_data:
            start_ns = max(start_ns, rank.free_ns[COMPUTE])
        rank.host_ns += COLLECTIVE_HOST_NS
        return start_ns

    def _meet(self, call: Collective, ranks: list[Rank]) -> None:
        for group in self._groups_among(call.group, ranks):
            hosts_ns = [self.ranks[number].host_ns for number in group]
            starts_ns = [self._arrive(call, self.ranks[number], True) for number in group]
            last_ns = max(starts_ns)
            transfer_ns = self.faults.transfer_ns(call.group, group, call.transfer_ns, self.step)
            for number, host_ns, start_ns in zip(group, hosts_ns, starts_ns):
                own_ns = transfer_ns
                if call.kind == "all_to_all":  # Each ends with its own messages.
                    own_ns = self.faults.messages_ns(number, group, transfer_ns, self.step)
                self._end(call, self.ranks[number], Item(start_ns, last_ns + own_ns, host_ns, 0))

    def _groups_among(self, name: str, ranks: list[Rank]) -> list[list[int]]:
        key = (name, ranks[0].number, len(ranks))
        if key not in self._groups:
            own = {rank.number for rank in ranks}
            self._groups[key] = [group for group in self.groups_of(name) if group[0] in own]
        return self._groups[key]

    def _end(self, call: Collective, rank: Rank, item: Item) -> None:
        rank.items.append(item)
        rank.free_ns[call.stream] = item.end_ns + GAP_NS
        if call.blocks:
            rank.free_ns[COMPUTE] = max(rank.free_ns[COMPUTE], item.end_ns + GAP_NS)

    def _send(self, call: Collective, rank: Rank) -> None:
        """When it ends, the receiver tells."""
        plane = self.program.replicas * self.program.shards
        host_ns = rank.host_ns
        start_ns = self._arrive(call, rank, True)
        self._sent[rank.number + call.peer * plane] = (rank, len(rank.items))
        rank.items.append(Item(start_ns, start_ns, host_ns, 0))

    def _receive(self, call: Collective, rank: Rank) -> None:
        sender, place = self._sent.pop(rank.number)
        host_ns = rank.host_ns
        start_ns = self._arrive(call, rank, False)
        sent = sender.items[place]
        pair = [sender.number, rank.number]
        transfer_ns = self.faults.transfer_ns("pipe", pair, call.transfer_ns, self.step)
        end_ns = max(start_ns, sent.start_ns) + self.faults.messages_ns(rank.number, pair, transfer_ns, self.step)
        sender.items[place] = sent._replace(end_ns=end_ns)
        sender.free_ns[call.stream] = end_ns + GAP_NS
        self._end(call, rank, Item(start_ns, end_ns, host_ns, 0))
