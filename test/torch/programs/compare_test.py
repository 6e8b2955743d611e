"""Whether compare.py finds what is wrong: a small run, and one thing of it changed at a time."""
import json
import pathlib
import sys
import tempfile

import compare
import recorded

LAYER = "1\tNet\tbody.0"


def call(handle, name, parent=0, **more):
    line = {"t": "call", "h": handle, "name": name, "op": name if "::" in name else "", "scope": 0, "seq": -1, "thread": 1,
            "fthread": 0, "here": 1, "tid": 7, "parent": parent, "grad": False, "async": False, "layer": "", "inputs": []}
    return {**line, **more}


OBSERVED = [
    {"t": "file", "pid": 7, "ppid": 1, "program": ""},
    {"t": "program", "name": "small"},
    {"t": "schema", "op": "aten::sum.dim", "args": [["self", False], ["dim", False], ["dtype", True]]},
    call(1, "program small", scope=7, grad=True),
    call(10, "small", 1, scope=7, grad=True),
    call(2, "aten::sum", 1, op="aten::sum.dim", seq=4, layer=LAYER, grad=True,
         inputs=[{"T": [2, 3], "d": "Float"}, {"l": [0, 1]}, 7]),
    {"t": "made", "h": 2, "seq": 4, "thread": 1, "node": "SumBackward0"},
    call(3, recorded.EVALUATE + ": SumBackward0", 1),
    call(4, "SumBackward0", 3, scope=1, seq=4, fthread=1),
    call(5, "aten::neg", 4, inputs=[{"T": [], "d": "BFloat16"}]),
]


def op(handle, name, aten, args, seq=-1, direction="f"):
    facts = {"v": 1, "type": "op", "seq": seq, "tid": 7, "ftid": 0, "dir": direction, "aten": aten, "h": handle}
    return str({"mod": "torch", "op": name, "args": args, "oplens": facts})


def tensor(shape, dtype):
    return {"name": "", "type": "tensor", "shape": shape, "dtype": dtype}


SUM = [tensor((2, 3), "float32"), {"name": "dim", "type": "tuple", "value": (0, 1)},
       {"name": "dtype", "type": "str", "value": "float64"}]
NODE = str({"oplens": {"v": 1, "seq": 4, "tid": 7, "ftid": 7, "dir": "b", "node": "SumBackward0", "h": 4}})

# (parent, text)
RANGES = [(-1, "program small"), (0, "small"), (1, "layer:body.0"),
          (2, op(2, "sum", "aten::sum.dim", SUM, 4)),
          (1, recorded.EVALUATE + ": SumBackward0"), (4, NODE),
          (5, op(5, "neg", "aten::neg", [tensor((), "bfloat16")], direction="b"))]

ROWS = [{"kernel": "h5", "phase": "backward", "layer": ["Net", "body.0"], "reason": []}]


def faults(ranges=RANGES, observed=OBSERVED, rows=ROWS):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "observed.7.jsonl").write_text("".join(json.dumps(line) + "\n" for line in observed))
        lines = [{"at": at, "parent": parent, "tid": 7, "start": at, "end": 100 - at, "text": text}
                 for at, (parent, text) in enumerate(ranges)]
        lines.append({"faults": []})
        (folder / "run.7.ranges").write_text("".join(json.dumps(line) + "\n" for line in lines))
        family = recorded.Family(folder)
        comparison = compare.Comparison(family, family.processes[0], "small")
        comparison.run()
        comparison.compare_rows(rows)
        return {fault for fault, _ in comparison.faults}


def with_text(at, old, new):
    changed = list(RANGES)
    parent, text = changed[at]
    assert old in text, old
    changed[at] = (parent, text.replace(old, new))
    return changed


CASES = [
    # What is changed in the ranges, and the fault.
    (RANGES[:6], "missing aten::neg of numbers in a node"),
    (RANGES[:1] + [(0, "other")] + RANGES[2:], "extra other"),
    (RANGES + [(1, op(9, "mm", "aten::mm", []))], "extra " + op(9, "mm", "aten::mm", [])),
    (RANGES + [(5, RANGES[6][1])], "twice aten::neg"),
    (with_text(3, "(2, 3)", "(3, 2)"), "tensors aten::sum"),
    (with_text(3, "float32", "float16"), "tensors aten::sum"),
    (with_text(3, str(SUM[0]) + ", ", ""), "tensors aten::sum"),
    (with_text(3, "(0, 1)", "(0, 2)"), "values aten::sum dim"),
    (with_text(3, "(0, 1)", "(0, 2)"), "dropped aten::sum.dim"),
    (with_text(3, "float64", "int64"), "dropped aten::sum.dtype"),
    (with_text(3, "'aten::sum.dim'", "'aten::sum.dim', 'cut': 2"), "cut aten::sum"),
    (with_text(3, "aten::sum.dim", "aten::sum"), "name aten::sum"),
    (with_text(3, "'seq': 4", "'seq': 5"), "seq aten::sum"),
    (with_text(3, "'seq': 4", "'seq': 5"), "forward SumBackward0 none"),
    (with_text(3, "'tid': 7", "'tid': 8"), "thread aten::sum"),
    (with_text(5, "'ftid': 7", "'ftid': 8"), "thread SumBackward0 forward"),
    (with_text(5, "'h': 4", "'h': 4, 'fh': 5"), "forward SumBackward0 aten::neg"),
    (with_text(6, "'dir': 'b'", "'dir': 'r'"), "dir aten::neg"),
    (with_text(2, "body.0", "body.1"), "layer aten::sum body.1 for Net:body.0"),
    (with_text(2, "body.0", "Other.body.0"), "layer aten::sum Other.body.0 for Net:body.0"),
    (RANGES[:6] + [(1, RANGES[6][1])], "place aten::neg"),
]
ROW_CASES = [
    ({"phase": "forward"}, "phase aten::neg forward"),
    ({"layer": []}, "priced-layer aten::neg none for Net:body.0"),
    ({"reason": ["no-forward"]}, "unmatched aten::neg"),
]


def main():
    wrong = [f"right, but: {fault}" for fault in faults() | faults(with_text(2, "body.0", "Net#2.body.0"))]
    for ranges, fault in CASES:
        found = faults(ranges)
        if fault not in found:
            wrong.append(f"{fault}: not found, but {sorted(found)}")
    for change, fault in ROW_CASES:
        found = faults(rows=[{**ROWS[0], **change}])
        if found != {fault}:
            wrong.append(f"{fault}: {sorted(found)}")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
