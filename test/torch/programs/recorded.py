"""What the observers and the test recorder wrote of a family, read."""
import ast
import collections
import json
import pathlib
import re
import urllib.parse

SEQUENCE = re.compile(r"(.+), seq = (\d+)")
EVALUATE = "autograd::engine::evaluate_function"


class Scope:
    """Numbers of at::RecordScope."""

    FUNCTION, BACKWARD_FUNCTION = 0, 1


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
        self.layer = line["layer"]
        self.inputs = line["inputs"]

    @property
    def is_evaluate(self):
        return self.scope == Scope.FUNCTION and self.name.startswith(EVALUATE)

    @property
    def is_op(self):
        return self.scope == Scope.FUNCTION and not self.is_evaluate

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

    @property
    def layer(self):
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
        self.ranges, self.faults = [], []
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
                    self.tids.setdefault(line["here"], set()).add(call.tid)

    def _read_ranges(self, path):
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for text in file:
                line = json.loads(text)
                if "faults" in line:
                    self.faults += line["faults"]
                else:
                    self.ranges.append(Range(line))

    def spans(self, program):
        """The times of a program, here and in the process that this one was forked from."""
        text = "program " + program
        found = [(one.start, one.end) for one in self.ranges if one.text == text]
        if not found and any(call.program == program for call in self.calls.values()):
            return [(0, float("inf"))]
        return found

    def forward_op(self, node):
        """The op that a node refers to: the last one with its number on its forward thread that began before
        it (docs/markers.md)."""
        if self._numbered is None:
            self._numbered = collections.defaultdict(list)
            for one in sorted(self.ranges, key=lambda one: one.start):
                if one.kind == "op" and one.facts["seq"] >= 0:
                    self._numbered[one.tid, one.facts["seq"]].append(one)
        found = None
        for one in self._numbered[node.facts["ftid"], node.facts["seq"]]:
            if one.start < node.start:
                found = one
        return found

    def around(self, one):
        """The ranges around a range, innermost first."""
        while one.parent >= 0:
            one = self.ranges[one.parent]
            yield one

    def calls_around(self, call):
        """The calls around a call, innermost first."""
        while call.parent in self.calls:
            call = self.calls[call.parent]
            yield call


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
        path = folder / "graph.json"
        if path.exists():
            # Texts of the user stand in it as they are.
            with open(path, encoding="utf-8", errors="replace") as file:
                graph = json.load(file, strict=False)
            self.graph = [node for node in graph["nodes"] if node["rf_id"] != 0]
            self.graph_pid = graph["pid"]
