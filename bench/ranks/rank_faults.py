"""What is planted in a made-up run: ranks, groups and nodes that are slow, always or at times, and files that lie."""
import re
import typing


class Failure(Exception):
    pass


class Pause(typing.NamedTuple):
    """The host of a rank does something else before a step."""
    name: str
    category: str
    length_ns: int


class Straggler(typing.NamedTuple):
    """A rank that is slow in one operator (of one layer), in all if `op` is None."""
    rank: int
    op: str | None
    percent: float
    first: int
    every: int = 1
    layer: int | None = None
    grows_until: int = 0  # The step in which it is as slow as said.

    def factor(self, step: int) -> float:
        if step < self.first or (step - self.first) % self.every != 0:
            return 1.0
        share = 1.0
        if self.grows_until > self.first:
            share = min(1.0, (step - self.first + 1) / (self.grows_until - self.first + 1))
        return 1 + share * self.percent / 100


class SlowTransfer(typing.NamedTuple):
    """Groups of a kind (None: any) that have all of these ranks take longer."""
    kind: str | None
    ranks: frozenset[int]
    factor: float
    first: int


class SlowPair(typing.NamedTuple):
    """Messages between two ranks take longer: of a send, and in an all_to_all, in which the others do not wait."""
    ranks: frozenset[int]
    factor: float
    first: int


class Stall(typing.NamedTuple):
    rank: int
    pause: Pause
    steps: frozenset[int]
    every: int = 0


COLLECT = "<built-in function collect>"
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


class Faults:
    def __init__(self) -> None:
        self.stragglers: list[Straggler] = []
        self.transfers: list[SlowTransfer] = []
        self.pairs: list[SlowPair] = []
        self.stalls: list[Stall] = []
        self.shapes: dict[int, float] = {}  # By rank: how much wider its matrices are.
        self._by_rank: dict[int, list[Straggler]] | None = None

    def speed_of(self, rank: int, op: str, layer: int, speed: int, step: int) -> int:
        if self._by_rank is None:
            self._by_rank = {}
            for slow in self.stragglers:
                self._by_rank.setdefault(slow.rank, []).append(slow)
        for slow in self._by_rank.get(rank, ()):
            if slow.op not in (None, op) or slow.layer not in (None, layer):
                continue
            speed = int(speed * slow.factor(step))
        if rank in self.shapes and op == "aten::mm":
            speed = int(speed * self.shapes[rank])
        return speed

    def transfer_ns(self, kind: str, group: list[int], nominal_ns: int, step: int) -> int:
        for slow in self.transfers:
            if slow.kind in (None, kind) and step >= slow.first and slow.ranks <= set(group):
                nominal_ns = int(nominal_ns * slow.factor)
        return nominal_ns

    def messages_ns(self, rank: int, group: list[int], nominal_ns: int, step: int) -> int:
        """Of the messages of a rank in a group: the slowest."""
        factors = [pair.factor for pair in self.pairs
                   if step >= pair.first and rank in pair.ranks and pair.ranks <= set(group)]
        return int(nominal_ns * max(factors, default=1))

    def pauses_of(self, rank: int, step: int) -> list[Pause]:
        return [stall.pause for stall in self.stalls if stall.rank == rank and
                (step in stall.steps or (stall.every > 0 and step % stall.every == stall.every - 1))]


def _fields(option: str, text: str, pattern: str, example: str) -> list[str]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise Failure(f"--{option} {text}: give it as {example}")
    return list(match.groups())


NUMBER = r"(\d+(?:\.\d+)?)"


def faults_of(options, ranks: int, operators: set[str]) -> Faults:
    """What could never be is an error: nobody would find it."""
    faults = Faults()

    def rank_of(option: str, text: str) -> int:
        if int(text) >= ranks:
            raise Failure(f"--{option} {text}: there are ranks 0 to {ranks - 1}")
        return int(text)

    def op_of(option: str, text: str) -> str:
        if text not in operators:
            raise Failure(f"--{option} {text}: the operators are {', '.join(sorted(operators))}")
        return text

    for text in options.straggler:
        rank, op, percent, step = _fields("straggler", text, rf"(\d+),(.+),{NUMBER},(\d+)",
                                          "rank, operator, percent and first step as 3,aten::mm,5,40")
        if int(rank) >= ranks:
            raise Failure(f"--straggler {text}: there are ranks 0 to {ranks - 1}")
        if op not in operators:
            raise Failure(f"--straggler {text}: the operators are {', '.join(sorted(operators))}")
        faults.stragglers.append(Straggler(int(rank), op, float(percent), int(step)))
    for text in options.every:
        rank, op, percent, every = _fields("every", text, rf"(\d+),(.+),{NUMBER},(\d+)", "3,aten::mm,50,10")
        faults.stragglers.append(Straggler(rank_of("every", rank), op_of("every", op), float(percent),
                                           int(every) - 1, int(every)))
    for text in options.ramp:
        rank, percent, first, last = _fields("ramp", text, rf"(\d+),{NUMBER},(\d+),(\d+)", "3,10,5,20")
        faults.stragglers.append(Straggler(rank_of("ramp", rank), None, float(percent), int(first),
                                           grows_until=int(last)))
    for text in options.layer:
        rank, layer, percent, step = _fields("layer", text, rf"(\d+),(\d+),{NUMBER},(\d+)", "3,2,30,5")
        if int(layer) >= options.layers:
            raise Failure(f"--layer {text}: there are layers 0 to {options.layers - 1}")
        faults.stragglers.append(Straggler(rank_of("layer", rank), None, float(percent), int(step),
                                           layer=int(layer)))
    for text in options.slow_node:
        node, percent, step = _fields("slow-node", text, rf"(\d+),{NUMBER},(\d+)", "1,10,5")
        if not options.node_ranks:
            raise Failure("--slow-node: say with --node-ranks how many ranks a node has")
        first = int(node) * options.node_ranks
        for rank in range(first, min(rank_of("slow-node", str(first)) + options.node_ranks, ranks)):
            faults.stragglers.append(Straggler(rank, None, float(percent), int(step)))
    for text in options.slow_link:
        a, b, factor, step = _fields("slow-link", text, rf"(\d+),(\d+),{NUMBER},(\d+)", "0,4,4,8")
        both = frozenset({rank_of("slow-link", a), rank_of("slow-link", b)})
        faults.transfers.append(SlowTransfer(None, both, float(factor), int(step)))
    for text in options.slow_pair:
        a, b, factor, step = _fields("slow-pair", text, rf"(\d+),(\d+),{NUMBER},(\d+)", "0,4,4,8")
        both = frozenset({rank_of("slow-pair", a), rank_of("slow-pair", b)})
        faults.pairs.append(SlowPair(both, float(factor), int(step)))
    for text in options.slow_group:
        kind, rank, factor, step = _fields("slow-group", text, rf"([a-z_]+),(\d+),{NUMBER},(\d+)", "data,3,4,8")
        faults.transfers.append(SlowTransfer(kind, frozenset({rank_of("slow-group", rank)}), float(factor), int(step)))
    for text in options.pause:
        rank, ms, every = _fields("pause", text, rf"(\d+),{NUMBER},(\d+)", "3,40,7")
        faults.stalls.append(Stall(rank_of("pause", rank), Pause(COLLECT, "python_function", int(float(ms) * 1e6)),
                                   frozenset(), int(every)))
    for text in options.loader:
        rank, ms, steps = _fields("loader", text, rf"(\d+),{NUMBER},(\d+(?:\+\d+)*)", "3,40,5+9+14")
        faults.stalls.append(Stall(rank_of("loader", rank), Pause(LOADER, "user_annotation", int(float(ms) * 1e6)),
                                   frozenset(int(step) for step in steps.split("+"))))
    for text in options.shapes:
        rank, factor = _fields("shapes", text, rf"(\d+),{NUMBER}", "3,1.5")
        faults.shapes[rank_of("shapes", rank)] = float(factor)
    return faults


def add_faults(words) -> None:
    words.add_argument("--straggler", action="append", default=[], metavar="RANK,OP,PERCENT,STEP")
    words.add_argument("--every", action="append", default=[], metavar="RANK,OP,PERCENT,N", help="slow in every N-th step")
    words.add_argument("--ramp", action="append", default=[], metavar="RANK,PERCENT,FIRST,LAST",
                       help="all operators, slower from step to step until LAST")
    words.add_argument("--layer", action="append", default=[], metavar="RANK,LAYER,PERCENT,STEP")
    words.add_argument("--slow-node", action="append", default=[], metavar="NODE,PERCENT,STEP", help="all its ranks")
    words.add_argument("--slow-link", action="append", default=[], metavar="RANK,RANK,FACTOR,STEP",
                       help="transfers of groups that have both")
    words.add_argument("--slow-pair", action="append", default=[], metavar="RANK,RANK,FACTOR,STEP",
                       help="messages between them: sends, and their part of an all_to_all (--experts)")
    words.add_argument("--slow-group", action="append", default=[], metavar="KIND,RANK,FACTOR,STEP",
                       help="transfers of the rank's group: tensor, data, pipe, ...")
    words.add_argument("--pause", action="append", default=[], metavar="RANK,MS,N", help="gc.collect before every N-th step")
    words.add_argument("--loader", action="append", default=[], metavar="RANK,MS,STEP+STEP+...",
                       help="the data loader stalls before these steps")
    words.add_argument("--shapes", action="append", default=[], metavar="RANK,FACTOR", help="its matrices are so much wider")
    words.add_argument("--twice", action="append", type=int, default=[], metavar="RANK", help="has a second file")
    words.add_argument("--node-ranks", type=int, default=0, metavar="N", help="ranks of a node; 0: no nodes are recorded")
