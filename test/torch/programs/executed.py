"""Compares what `parse` and `prof` make of emit_nvtx and PyTorch's execution trace with what they make of the
adaptor's ranges of the same run, call by call.

A fault is a text "KIND NAME", NAME being PyTorch's of the call:

  tensors, values      of its arguments are others
  op, mod, dir, phase, params, flops, bytes, reason       the column of `prof` of a kernel in it is another
  told WORD            the execution trace did not fit, so `parse` says
"""
import ast
import collections
import json
import re
import subprocess

COLUMNS = ["op", "mod", "dir", "phase", "params", "flops", "bytes", "reason"]
WORDS = {"bad-node", "other-node", "no-node"}


class Profile:
    """What the programs say of the kernels of a profile, by the number of the call that launched them."""

    def __init__(self, build, database, *options):
        self.records = by_call(run([f"{build}/bin/parse", "--format", "jsonl", *options, database]), "kShortName")
        columns = ",".join(["kernel", *COLUMNS])
        self.rows = by_call(run([f"{build}/bin/prof", "--json", "-c", columns, *options, database]), "kernel")
        checked = subprocess.run([f"{build}/bin/parse", "-v", "--check", *options, database], check=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.told = collections.Counter()
        for line in checked.stderr.splitlines():
            for word in WORDS.intersection(re.findall(r"\[([a-z-]+)\]", line)):
                self.told[word] += int(line.split()[1])


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def by_call(lines, name):
    return {int(one[name][1:]): one for one in map(json.loads, lines.splitlines())}


def compare(build, marked, emitted, trace, process):
    """Program -> (faults, counts)."""
    before = Profile(build, emitted)
    after = Profile(build, emitted, "--execution-trace", trace)
    adaptor = Profile(build, marked)
    results = collections.defaultdict(lambda: ([], collections.Counter()))
    for handle, row in adaptor.rows.items():
        call = process.calls[handle]
        faults, counts = results[call.program]
        ours = after.rows[handle]
        counts["price"] += 1
        counts["bytes"] += ours["bytes"] is not None
        counts["bytes without"] += before.rows[handle]["bytes"] is not None
        for column in COLUMNS:
            if ours[column] != row[column]:
                faults.append((f"{column} {call.name}", f"{ours[column]} for {row[column]}, h {handle}"))
        records = after.records[handle]["marker"], adaptor.records[handle]["marker"]
        if all(records) and ast.literal_eval(records[1][-1])["oplens"].get("h") == handle:
            compare_arguments(call.name, *(ast.literal_eval(texts[-1])["args"] for texts in records), faults)
    for word, count in after.told.items():
        # Of the whole run.
        results[min(results)][0].extend([(f"told {word}", str(count))] * count)
    return results


def compare_arguments(name, ours, theirs, faults):
    """Of a call: tensors in any order, since functions of Python have keywords, and what is neither None nor
    a tensor, by its value."""
    tensors, values = [], []
    for args in (ours, theirs):
        tensors.append(collections.Counter())
        values.append(collections.Counter())
        for arg in args:
            if arg["type"] == "tensor":
                tensors[-1][tuple(arg["shape"]), arg["dtype"]] += arg.get("times", 1)
            elif arg["value"] is not None:
                values[-1][plain(arg["value"])] += 1
    for kind, (mine, others) in (("tensors", tensors), ("values", values)):
        if mine != others:
            faults.append((f"{kind} {name}", f"{dict(mine - others)} for {dict(others - mine)}"))


def plain(value):
    """Truth values in lists are 1 and 0, floats have six digits behind the point."""
    if isinstance(value, (list, tuple)):
        return repr(tuple(int(item) for item in value if isinstance(item, (bool, int))))
    return repr(round(value, 6) if isinstance(value, float) else value)
