"""Compares what was emitted for a program with what was observed of the same run.

A fault is a text "KIND NAME", NAME being PyTorch's of the op, node or range:

  missing      nothing was emitted                    extra    emitted, and nothing has run
  twice        emitted more than once                 name     emitted under another name
  tensors      shapes and data types are others       values   a number or text that no argument has
  dropped      NAME.ARGUMENT, which has a value, is left out
  left out     NUMBER are missing, and the recording says so
  cut          parts were left out                    seq, thread, dir     are others
  place        inside another op or node              layer    inside another layer
  forward      the op that the node refers to by its number is not the one that made it
  function     that a module of Python has no function of this name
  observers    the two observers do not agree
"""
import collections
import re

from recorded import ACCUMULATE

# Say where and how memory lies; no cost depends on them.
PLACEMENT = {"layout", "device", "pin_memory", "memory_format", "generator"}

DTYPES = {"Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16",
          "Float": "float32", "Double": "float64", "ComplexHalf": "complex32", "ComplexFloat": "complex64",
          "ComplexDouble": "complex128", "Bool": "bool", "QInt8": "qint8", "QUInt8": "quint8", "QInt32": "qint32",
          "BFloat16": "bfloat16", "QUInt4x2": "quint4x2", "QUInt2x4": "quint2x4", "Bits1x8": "bits1x8",
          "Bits2x4": "bits2x4", "Bits4x2": "bits4x2", "Bits8": "bits8", "Bits16": "bits16",
          "Float8_e5m2": "float8_e5m2", "Float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2fnuz": "float8_e5m2fnuz",
          "Float8_e4m3fnuz": "float8_e4m3fnuz", "UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64"}
DTYPE_NUMBERS = list(DTYPES.values())  # In the order of c10::ScalarType.

ROOM = 512  # So many ranges in one another are always kept.

PHASES = {"f": "forward", "b": "backward", "r": "recompute", "g": "gradient", "o": "optimizer"}


class Comparison:
    """Faults of one program in one process."""

    def __init__(self, family, process, program):
        self.names = family.names
        self.process = process
        self.program = program
        self.faults = []  # (fault, details)
        self.missing = []  # Calls.
        self.missing_labels = 0
        self.paths = collections.defaultdict(set)  # Of each module, by its number.
        self.count = collections.Counter()
        self.calls = [call for call in process.calls.values() if call.program == program]

    def run(self):
        for text in self.process.faults:
            self._fault("recording", text)
        for call in self.calls:
            if call.is_op or call.is_node:
                self._call(call)
        for paths in self.paths.values():
            if len(paths) > 1:
                self._fault("paths", " ".join(sorted(paths)))
        self._extras()
        self._labels()
        self._left_out()

    def _fault(self, kind, name, details=""):
        self.faults.append((f"{kind} {name}", details))

    def _call(self, call):
        found = self.process.by_handle.get(call.handle, [])
        kind = "node" if call.is_node else "op"
        self.count[kind] += 1
        if not found:
            self.missing.append(call)
            return self._fault("missing", call.name + self._where(call), f"{call.op} h {call.handle}")
        if len(found) > 1:
            self._fault("twice", call.name, [one.text for one in found])
        one = found[0]
        if one.kind != kind:
            return self._fault("name", call.name, one.text)
        if kind == "op":
            self._op(call, one)
        else:
            self._node(call, one)
        self._place(call, one)
        if one.tid != call.tid or one.facts["tid"] != call.tid:
            self._fault("thread", call.name, f"{one.tid}, {one.facts['tid']} for {call.tid}")
        if one.facts["dir"] != self._direction(call):
            self._fault("dir", call.name, f"{one.facts['dir']} for {self._direction(call)} h {call.handle}")
        if not one.text.isascii() or not one.text.isprintable():
            self._fault("text", call.name, one.text)
        return None

    def _where(self, call):
        if call.outer is None:
            return ""
        tensors = Arguments(self.process, call).tensors
        numbers = " of numbers" if tensors and all(shape == () for shape, _ in tensors) else ""
        return numbers + (" in an op" if call.outer.is_op else " in a node")

    def _op(self, call, one):
        if one.facts.get("aten", "") != call.op or not call.op and one.fields["op"] != call.name:
            self._fault("name", call.name, f"{call.op}: {one.text}")
        names = self.names.get(one.fields["mod"])
        if names is not None and one.fields["op"] not in names:
            self._fault("function", f"{one.fields['mod']}.{one.fields['op']}", one.text)
        if one.facts["seq"] != call.seq:
            self._fault("seq", call.name, f"{one.facts['seq']} for {call.seq}")
        if one.facts.get("cut"):
            self._fault("cut", call.name, one.text)
        if not call.is_script:  # Its arguments are those of the operators in it.
            Arguments(self.process, call).compare(one.fields["args"], self._fault)

    def _node(self, call, one):
        accumulates = call.name == ACCUMULATE
        seq = -1 if accumulates else call.seq
        if one.facts["node"] != call.name:
            self._fault("name", call.name, one.text)
        if one.facts["seq"] != seq:
            self._fault("seq", call.name, one.text)
        tids = {0} if accumulates else self.process.tids.get(call.forward_thread, {0})
        if one.facts["ftid"] not in tids:
            self._fault("thread", call.name + " forward", f"{one.facts['ftid']} for {tids}")
        if not accumulates:
            self._forward(call, one)

    def _forward(self, call, one):
        """docs/markers.md: the last op with its number on its forward thread that began before it."""
        made, node = self.process.made.get((call.seq, call.forward_thread), (0, call.name))
        if node != call.name:
            self._fault("observers", call.name, f"made as {node}")
        op = self.process.forward_op(one)
        if op is None:
            self._fault("forward", f"{call.name} none", f"seq {call.seq}, made by {self._name(made)}")
        elif made:
            # One that is left out is told by the op around it.
            maker = self.process.calls.get(made)
            while maker is not None and maker.handle not in self.process.by_handle:
                maker = maker.outer
            if maker is None or op.handle != maker.handle:
                if self._is_function(op.handle, call) and op.outer == maker.handle:
                    return  # The operator of the user calls a function with a derivative of its own.
                self._fault("forward", f"{call.name} {self._name(op.handle)}",
                            f"seq {call.seq}, made by {self._name(made)}")
        elif not self._is_function(op.handle, call):
            self._fault("forward", f"{call.name} {self._name(op.handle)}", f"seq {call.seq}, made by no op")

    def _is_function(self, handle, node):
        """Whether a call is the function of a node that no operator made: one of the user, or of TorchScript."""
        call = self.process.calls.get(handle)
        if call is None:
            return False
        return call.is_script if "torch::jit" in node.name else call.name + "Backward" == node.name

    def _name(self, handle):
        call = self.process.calls.get(handle)
        return call.name if call else str(handle)

    def _direction(self, call):
        if call.name == ACCUMULATE:
            return "g"
        if call.is_node:
            return "b"
        context = call.context
        if context is None:
            return "f"
        if context.is_node and context.name != ACCUMULATE:
            # Made where the backward pass itself makes no graph: a forward op that runs again, with all in it.
            while call.outer is not None and call.outer.is_op and call.outer.context is context:
                call = call.outer
            return "r" if call.grad and not context.grad else "b"
        return "g" if context.is_node or context.is_evaluate else "o"

    def _place(self, call, one):
        outer = call.outer
        while outer is not None and outer.handle not in self.process.by_handle:
            outer = outer.outer
        if one.outer != (outer.handle if outer is not None else 0):
            self._fault("place", call.name, f"in {self._name(one.outer)} for {outer.name if outer else 'none'}")
        self.count["layer"] += 1
        if not call.layer.fits(one.layer):
            self._fault("layer", f"{call.name} {one.layer or 'none'} for {call.layer}", f"h {call.handle}")
        elif call.layer:
            self.paths[call.layer.number].add(one.layer)

    def _extras(self):
        spans = self.process.spans(self.program)
        for one in self.process.ranges:
            if one.kind in ("op", "node") and one.handle not in self.process.calls and _is_in(one, spans):
                self._fault("extra", one.text)

    def _left_out(self):
        """What has no room is missing, but counted and told: it is one fault then."""
        told = self.process.left_out(self.process.spans(self.program))
        if not told:
            return
        # Some ops are left out wherever they are in another, which is not counted.
        in_ops = [call for call in self.missing if call.outer is not None and call.outer.handle in self.process.by_handle]
        minor = {call.name for call in in_ops if call.depth < ROOM}
        kept = {"missing " + call.name + self._where(call) for call in in_ops if call.name in minor}
        counted = len(self.missing) - sum(call.name in minor for call in in_ops) + self.missing_labels
        if told == counted:
            self.faults = [(fault, details) for fault, details in self.faults
                           if not fault.startswith("missing ") or fault in kept]
            self._fault("left out", str(told))
        else:
            self._fault("left out", f"{told}, but {counted} are missing")

    def _labels(self):
        observed, emitted = collections.Counter(), collections.Counter()
        for call in self.calls:
            if not call.is_op and not call.is_node and not call.asynchronous:
                observed[call.tid, free_text(call.name)] += 1
        spans = self.process.spans(self.program)
        for one in self.process.ranges:
            if one.kind == "label" and _is_in(one, spans):
                emitted[one.tid, one.text] += 1
        self.count["label"] += sum(observed.values())
        for (_, text), count in (observed - emitted).items():
            self.missing_labels += count
            for _ in range(count):
                self._fault("missing", text)
        for (_, text), count in (emitted - observed).items():
            for _ in range(count):
                self._fault("extra", text)


    def compare_rows(self, rows):
        """`rows`: of prof, the kernel of each being one that a call of this process has launched."""
        for row in rows:
            call = self.process.calls.get(int(row["kernel"][1:] or 0))
            if call is None or call.program != self.program:
                continue
            self.count["row"] += 1
            if "no-forward" in row["reason"]:
                self._fault("unmatched", call.name, row)
            if row["phase"] != PHASES[self._direction(call)]:
                self._fault("phase", f"{call.name} {row['phase']}", row)
            layer, expected = (row["layer"] or [""])[-1], self._layer_of_kernel(call)
            if expected is not None and not expected.fits(layer):
                self._fault("priced-layer", f"{call.name} {layer or 'none'} for {expected}", row)

    def _layer_of_kernel(self, call):
        """Its own, else that of the op whose gradient it is for; None where no op made the node."""
        if call.layer:
            return call.layer
        around = call
        while around is not None:
            is_node = around.is_node and around.name != ACCUMULATE
            node = around if is_node else self.process.nodes.get(around.handle)
            if node is not None:
                made, _ = self.process.made.get((node.seq, node.forward_thread), (0, ""))
                op = self.process.calls.get(made)
                # An op of the backward pass, whose gradient this is, has its layer from its own node.
                return self._layer_of_kernel(op) if op is not None else None
            if around.name.startswith("Optimizer."):
                return call.layer  # An optimizer that a hook of the backward pass calls.
            around = around.context
        return call.layer

    def compare_graph(self, family):
        """The two observers with one another."""
        if not family.graph or self.process.pid != family.graph_pid:
            return
        seen = {node["rf_id"]: node for node in family.graph}
        for call in self.calls:
            node = seen.get(call.handle)
            if node is None:
                continue
            self.count["seen by both"] += 1
            schema = node["op_schema"].split("(")[0]
            if (node["name"], node["seq_id"], node["scope"], node["tid"], schema) != (
                    call.name, call.seq, call.scope, call.thread, call.op):
                self._fault("observers", call.name, node)
            elif call.is_op and call.op and len(call.inputs) == len(node["inputs"]) and not _has_others(call.inputs):
                shapes = _shapes(node["input_shapes"], node["input_types"])
                tensors = [tuple(shape) for shape, _ in Arguments(self.process, call).tensors]
                if shapes != tensors:
                    self._fault("observers", call.name, f"{shapes} {tensors}")


def _has_others(inputs):
    """Whether there are tensors without a shape that both observers could tell: nested, symbolic."""
    return any(isinstance(value, dict) and (value.get("o", "").endswith(" tensor") or _has_others(value.get("l", ())))
               for value in inputs)


def _is_in(one, spans):
    return any(start <= one.start <= end for start, end in spans)


def free_text(text):
    """A text of the user as docs/markers.md has it: no control bytes, and no marker of another kind."""
    for start in ("{", "layer:", "aten:"):
        if text.startswith(start):
            text = f"{start[:-1]}%{ord(start[-1]):02x}{text[len(start):]}"
    text = re.sub("(seq|op_id|sizes|input_op_ids)( ?)=", r"\1\2%3d", text)
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(named.get(c) or (f"\\x{ord(c):02x}" if ord(c) < 0x20 or ord(c) == 0x7f else c) for c in text)


class Arguments:
    """The arguments of a call, and those of a text."""

    def __init__(self, process, call):
        self.call = call
        self.process = process
        inputs = call.inputs
        schema = process.schemas.get(call.op) if call.op else None
        if schema is not None and len(inputs) > len(schema):  # The stack of TorchScript.
            inputs = inputs[len(inputs) - len(schema):]
        self.names = [name for name, _ in schema or []]
        self.tensors, self.tensor_names = [], []
        self.values = []  # (name, value)
        for i, value in enumerate(inputs):
            self._add(schema[i][0] if schema is not None else "", value)

    def _add(self, name, value):
        if value is None or name in PLACEMENT:
            return
        if isinstance(value, dict) and "T" in value:
            self.tensors.append((tuple(value["T"]), DTYPES[value["d"]]))
            self.tensor_names.append(name)
        elif isinstance(value, dict) and "o" in value:
            pass  # Of a type that has no text: a device, an object of C++.
        elif isinstance(value, dict) and {"o": "SymInt"} in value.get("l", ()):
            pass  # Sizes of which some are not known yet.
        elif isinstance(value, dict) and "l" in value and any(isinstance(v, dict) and "f" not in v and "c" not in v
                                                              for v in value["l"]):
            for item in value["l"]:
                self._add(name, item)
        else:
            self.values.append((name, self._plain(name, value)))

    def _plain(self, name, value):
        if isinstance(value, dict):
            if "f" in value:
                return float(value["f"])
            if "c" in value:
                return complex(float(value["c"][0]), float(value["c"][1]))
            return tuple(self._plain("", item) for item in value["l"])
        if ("dtype" in name or name in ("type1", "type2")) and isinstance(value, int) and not isinstance(value, bool):
            return DTYPE_NUMBERS[value]
        return value

    def compare(self, args, fault):
        tensors, values = [], []
        for arg in args:
            if arg["type"] == "tensor":
                tensors += [(tuple(arg["shape"]), arg["dtype"])] * arg.get("times", 1)
            elif arg["value"] is not None:
                values.append((arg["name"], _value_of(arg)))
        self._compare_tensors(tensors, fault)
        self._compare_values(values, fault)

    def _compare_tensors(self, tensors, fault):
        left = collections.Counter(tensors)
        dropped = []
        for name, tensor in zip(self.tensor_names, self.tensors):
            if left[tensor]:
                left[tensor] -= 1
            else:
                dropped.append(name)
        if +left or dropped and len(dropped) == len(self.tensors):
            fault("tensors", self.call.name, f"{tensors} for {self.tensors}")
        else:
            for name in dropped:
                fault("dropped", f"{self.call.name}.{name}", f"{tensors} for {self.tensors}")

    def _compare_values(self, values, fault):
        left = [(name, _key(value)) for name, value in self.values]
        unexplained = []
        for name, value in values:
            # By its name, if the operator has it, else by the value alone.
            candidates = [i for i, one in enumerate(left) if one == (name, _key(value))]
            if not candidates and name not in self.names:
                candidates = [i for i, (_, key) in enumerate(left) if key == _key(value)]
            if candidates:
                del left[candidates[0]]
            else:
                unexplained.append((name, value))
        for name, value in unexplained:
            if not self._follows(name, value, left):
                fault("values", f"{self.call.name} {name}", f"{value!r}: {self.values}")
        for name, key in left:
            fault("dropped", f"{self.call.name}.{name}", f"{key[1]} of {self.call.op}")

    def _follows(self, name, value, left):
        """Whether the function's argument says what one of the operator says in another way."""
        if name != "dtype":
            return False
        flag = ("half_to_float", _key(True))
        if value == "float32" and flag in left:
            left.remove(flag)
            return True
        return bool(self.tensors) and value == self.tensors[0][1]


def _value_of(arg):
    value = arg["value"]
    if arg["type"] == "float":
        return float(value)
    if arg["type"] == "complex":
        return complex(value)
    if arg["type"] in ("list", "tuple"):
        return tuple(float(item) if item in ("inf", "-inf", "nan") else item for item in value)
    return value


def _key(value):
    """Equal for equal values of the same type only."""
    return type(value).__name__, repr(value)


def _shapes(shapes, types):
    """The shapes of tensors, in order, also in lists."""
    found = []
    for shape, name in zip(shapes, types):
        if name.startswith("Tensor(nullptr"):
            pass  # Undefined.
        elif name.startswith("Tensor("):
            found.append(tuple(shape))
        elif name.startswith("GenericList["):
            found += _shapes(shape, _items(name[len("GenericList["):-1]))
    return found


def _items(names):
    """The types in a list's: "Tensor(float),GenericList[Int,Int]"."""
    found, depth = [""], 0
    for c in names:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return found
