"""What the observers and the test recorder wrote of a family, read."""
import ast
import collections
import json
import pathlib
import re
import urllib.parse

SEQUENCE = re.compile(r"(.+), seq = (\d+)")
LEFT_OUT = "ranges left out: "  # The mark that tells how many ranges there was no room for.
MAX_PATH = 512  # Longer ones are cut, with "..." behind.
EVALUATE = "autograd::engine::evaluate_function"
REGIONS = ("Torch-Compiled Region", "TorchDynamo Cache Lookup", "Pregraph bytecode")
ACCUMULATE = "torch::autograd::AccumulateGrad"


class Scope:
    """Numbers of at::RecordScope."""

    FUNCTION, BACKWARD_FUNCTION, TORCHSCRIPT_FUNCTION = 0, 1, 2


class Layer:
    """A module, as layers.py tells it; false where there is none."""

    def __init__(self, told):
        self.number, self.kind, self.path = told.split("\t") if told else ("", "", "")

    def __bool__(self):
        return self.number != ""

    def __str__(self):
        return f"{self.kind}:{self.path}" if self else "none"

    def fits(self, path):
        """Whether a path is that of the module: alone, or behind the name of its network, which may have a
        number."""
        if not self:
            return path == ""
        kept = path[:MAX_PATH] if path.endswith("...") and len(path) == MAX_PATH + 3 else None
        for network in ("", *re.findall(re.escape(self.kind) + r"(?:#\d+)?", path)[:1]):
            whole = ".".join(name for name in (network, self.path) if name)
            if whole and path == whole or kept == whole[:MAX_PATH]:
                return True
        return False


class Call:
    """A thing that PyTorch recorded, as observer.cc tells it."""

    def __init__(self, line, program):
        self.program = program
        self.handle = line["h"]
        self.name = line["name"].encode("latin-1").decode("utf-8", "surrogateescape")
        self.op = line["op"]  # With the overload; "" for what is no operator.
        self.scope = line["scope"]
        self.seq = line["seq"]
        self.thread, self.forward_thread, self.tid = line["thread"], line["fthread"], line["tid"]
        self.parent = line["parent"]
        self.grad = line["grad"]
        self.asynchronous = line["async"]
        self.layer = Layer(line["layer"])
        self.inputs = line["inputs"]
        self.outer = None  # The op or node around it.
        self.context = None  # What decides its direction: the node, evaluation or optimizer around it.
        self.depth = 0  # How many are around it.

    def stand_in(self, parent):
        self.depth = parent.depth + 1
        self.outer = parent if parent.is_op or parent.is_node else parent.outer
        decides = parent.is_node or parent.is_evaluate or parent.name.startswith("Optimizer.")
        self.context = parent if decides else parent.context

    @property
    def is_evaluate(self):
        return self.scope == Scope.FUNCTION and self.name.startswith(EVALUATE)

    @property
    def is_region(self):
        """What Dynamo puts around a compiled region, and around its search for one."""
        return self.scope == Scope.FUNCTION and not self.op and not self.inputs and self.name.startswith(REGIONS)

    @property
    def is_script(self):
        return self.scope == Scope.TORCHSCRIPT_FUNCTION

    @property
    def is_op(self):
        return self.is_script or self.scope == Scope.FUNCTION and not self.is_evaluate and not self.is_region

    @property
    def is_node(self):
        return self.scope == Scope.BACKWARD_FUNCTION


class Range:
    """A range that a tool saw. `kind`: op, node, seq, layer, trace, label."""

    def __init__(self, line):
        self.at, self.parent = line["at"], line["parent"]
        self.tid, self.start, self.end = line["tid"], line["start"], line["end"]
        self.text = line["text"]
        self.fields, self.facts = {}, {}
        if self.text.startswith(("{'mod': ", "{'oplens': ")):
            self.fields = ast.literal_eval(self.text)
            self.facts = self.fields["oplens"]
            self.kind = "node" if "node" in self.facts else "op"
        elif self.text.startswith("{'traceMarker': "):
            self.kind = "trace"
        elif self.text.startswith("layer:"):
            self.kind = "layer"
        else:
            self.kind = "seq" if SEQUENCE.fullmatch(self.text) else "label"
        self.handle = self.facts.get("h", 0)
        self.outer = 0  # The handle of the op or node around it.
        self.layer = ""  # That it is in.

    def stand_in(self, parent):
        self.outer = parent.handle if parent.kind in ("op", "node") else parent.outer
        self.layer = parent.path if parent.kind == "layer" else parent.layer

    @property
    def path(self):
        return urllib.parse.unquote(self.text[len("layer:"):])


class Process:
    """One process of a family."""

    def __init__(self, folder, pid):
        self.pid = pid
        self.calls = {}  # By handle.
        self.schemas = {}  # Operator with overload -> [[name, keyword only], ..]
        self.made = {}  # (number, thread) of a node -> (handle of its op, name of the node)
        self.tids = {}  # Number of a thread -> those of the system.
        self._read_observed(folder / f"observed.{pid}.jsonl")
        self.nodes = self._nodes_of_evaluations()
        self.ranges, self.faults, self.told_left_out = [], [], []  # The last: (time, how many so far).
        self._numbered = None
        path = folder / f"run.{pid}.ranges"
        if path.exists():
            self._read_ranges(path)
        else:
            self.faults.append("no ranges were recorded")
        self.by_handle = collections.defaultdict(list)
        for one in self.ranges:
            if one.kind in ("op", "node"):
                self.by_handle[one.handle].append(one)

    def _read_observed(self, path):
        program = ""
        with open(path, encoding="ascii") as file:
            for text in file:
                line = json.loads(text)
                kind = line["t"]
                if kind == "file":
                    program = line["program"]
                elif kind == "program":
                    program = line["name"]
                elif kind == "schema":
                    self.schemas[line["op"]] = line["args"]
                elif kind == "made":
                    self.made[line["seq"], line["thread"]] = (line["h"], line["node"])
                elif kind == "call":
                    call = Call(line, program)
                    self.calls[call.handle] = call
                    if call.parent in self.calls:
                        call.stand_in(self.calls[call.parent])
                    self.tids.setdefault(line["here"], set()).add(call.tid)

    def _read_ranges(self, path):
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for text in file:
                line = json.loads(text)
                if "faults" in line:
                    self.faults += line["faults"]
                elif "mark" in line:
                    if line["mark"].startswith(LEFT_OUT):
                        self.told_left_out.append((line["time"], int(line["mark"][len(LEFT_OUT):])))
                else:
                    one = Range(line)
                    if one.parent >= 0:
                        one.stand_in(self.ranges[one.parent])
                    self.ranges.append(one)

    def _nodes_of_evaluations(self):
        """What the engine evaluates -> the node that it is for. The gradient of a leaf is added up right after
        the node that made it, as nothing comes before that in the engine's queue: it is for that node."""
        nodes = {call.parent: call for call in self.calls.values() if call.is_node and call.name != ACCUMULATE}
        last = {}  # By what is around.
        for call in self.calls.values():  # In the order of their beginning.
            if not call.is_evaluate:
                continue
            if call.handle in nodes:
                last[call.tid, call.parent] = nodes[call.handle]
            elif (call.tid, call.parent) in last:
                nodes[call.handle] = last[call.tid, call.parent]
        return nodes

    def spans(self, program):
        """The times of a program, here and in the process that this one was forked from."""
        text = "program " + program
        found = [(one.start, one.end) for one in self.ranges if one.text == text]
        if not found and any(call.program == program for call in self.calls.values()):
            return [(0, float("inf"))]
        return found

    def left_out(self, spans):
        """How many ranges are told to be missing that began within some times."""
        before = after = 0
        for time, count in self.told_left_out:
            if any(start <= time <= end for start, end in spans):
                after = max(after, count)
            elif not spans or time < spans[0][0]:
                before = max(before, count)
        return max(after - before, 0)

    def forward_op(self, node):
        """The op that a node refers to: the call that it names, else the last one with its number on its
        forward thread that began before it (docs/markers.md)."""
        if "fh" in node.facts:
            return next(iter(self.by_handle.get(node.facts["fh"], [])), None)
        if self._numbered is None:
            self._numbered = collections.defaultdict(list)
            for one in sorted(self.ranges, key=lambda one: one.start):
                if one.kind == "op" and one.facts.get("seq", -1) >= 0:
                    self._numbered[one.tid, one.facts["seq"]].append(one)
        found = None
        for one in self._numbered[node.facts["ftid"], node.facts["seq"]]:
            if one.start < node.start:
                found = one
        return found


class Family:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        pids = sorted(int(path.name.split(".")[1]) for path in folder.glob("observed.*.jsonl"))
        self.processes = [Process(folder, pid) for pid in pids]
        self.names = {}  # Of a module of PyTorch.
        path = folder / "names.json"
        if path.exists():
            with open(path, encoding="utf-8") as file:
                self.names = {module: set(names) for module, names in json.load(file).items()}
        self.graph = []
        path = folder / "graph.observed.json"
        if path.exists():
            # Texts of the user stand in it as they are.
            with open(path, encoding="utf-8", errors="replace") as file:
                graph = json.load(file, strict=False)
            nodes = [_flat(node) for node in graph["nodes"]]
            self.graph = [node for node in nodes if node["rf_id"] != 0]
            self.graph_pid = graph["pid"]


def _flat(node):
    """A node as version 1 of the schema has it: its attributes and inputs stand in it."""
    if "attrs" not in node:
        return node
    inputs = node["inputs"]
    return {**node, **{attribute["name"]: attribute["value"] for attribute in node["attrs"]},
            "inputs": inputs["values"], "input_shapes": inputs["shapes"], "input_types": inputs["types"]}
