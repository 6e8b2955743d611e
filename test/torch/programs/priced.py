"""What `prof` says of one kernel that is put into a range of a recorded database."""
import json
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess

# Program of prices.py: the operator in whose last range of the program the kernel is launched, FLOPs, bytes.
PRICES = {
    # (128, 64) by (64, 32) of bfloat16.
    "linear_under_autocast": ("aten::mm", 2 * 128 * 64 * 32, 2 * (128 * 64 + 64 * 32 + 128 * 32)),
    # 64 products of 16 by 16.
    "vmapped_product": ("aten::bmm", 64 * 2 * 16 * 16 * 16, 4 * 64 * 3 * 16 * 16),
    # Every number is read and written.
    "cat_of_300": ("aten::cat", 0, 2 * 4 * 300 * 100),
    "cat_of_unlike": ("aten::cat", 0, 2 * 4 * 5 * sum(i % 7 + 1 for i in range(300))),
    "foreach_of_300": ("aten::_foreach_add_", 300 * 10, 2 * 4 * 300 * 10),
    # What this process has: 32 rows, not 64.
    "product_of_a_shard": ("aten::mm", 2 * 32 * 16 * 8, 4 * (32 * 16 + 16 * 8 + 32 * 8)),
}

_START, _END = 2, 4  # Flags of CUPTI_ACTIVITY_KIND_MARKER.


class Database:
    """A recording: its ranges, and kernels added to it."""

    def __init__(self, path):
        self._file = sqlite3.connect(path)
        strings = dict(self._file.execute("SELECT _id_, value FROM StringTable"))
        self.ranges = []  # (start, end, text, thread object)
        begun = {}
        for flags, time, number, thread, name in self._file.execute(
                "SELECT flags, timestamp, id, objectId, name FROM CUPTI_ACTIVITY_KIND_MARKER ORDER BY _id_"):
            if flags & _START:
                begun[number] = (time, strings[name], thread)
            elif flags & _END and number in begun:
                start, text, thread = begun.pop(number)
                self.ranges.append((start, time, text, thread))
        self.ranges.sort(key=lambda one: (one[0], -one[1]))
        self._kernels = 0

    def find(self, pattern, within=(0, float("inf"))):
        """The last range of such a text inside of two times: of nested ones the innermost."""
        for start, end, text, thread in reversed(self.ranges):
            if within[0] <= start and end <= within[1] and re.search(pattern, text):
                return start, end, thread
        raise LookupError(f"no range {pattern}")

    def launch(self, name, inside):
        """A kernel that is launched at the beginning of a range."""
        start, _, thread = inside
        process_id, thread_id = struct.unpack("<II", bytes(thread)[:8])
        self._kernels += 1
        number = 1_000_000 + self._kernels
        text = self._file.execute("INSERT INTO StringTable (value) VALUES (?)", (name,)).lastrowid
        launched = start + 1
        self._add("RUNTIME", cbid=211, start=launched, end=launched, processId=process_id,
                  threadId=_signed(thread_id), correlationId=number, returnValue=0)
        begun = self.ranges[-1][1] + 10_000 * self._kernels
        self._add("CONCURRENT_KERNEL", start=begun, end=begun + 1000, completed=begun + 1000, deviceId=0, contextId=1,
                  streamId=7, gridX=1, gridY=1, gridZ=1, blockX=128, blockY=1, blockZ=1, correlationId=number,
                  gridId=number, name=text, registersPerThread=32, staticSharedMemory=0, dynamicSharedMemory=0,
                  localMemoryPerThread=0, localMemoryTotal=0)

    def _add(self, kind, **values):
        table = "CUPTI_ACTIVITY_KIND_" + kind
        for _, name, declared, needed, default, _ in self._file.execute(f"PRAGMA table_info({table})").fetchall():
            if needed and default is None and name not in values and name != "_id_":
                values[name] = 0
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" for _ in values)
        self._file.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))

    def close(self):
        self._file.commit()
        self._file.close()


def _signed(number):
    return struct.unpack("<i", struct.pack("<I", number))[0]


def rows_of(build, database, columns):
    """The rows of prof for a database, each a dictionary."""
    records = pathlib.Path(database).with_suffix(".dict")
    subprocess.run([f"{build}/bin/parse", "-o", str(records), str(database)], check=True,
                   stderr=subprocess.DEVNULL)
    printed = subprocess.run([f"{build}/bin/prof", "--json", "-c", columns, str(records)], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in printed.stdout.splitlines()]


def price(build, recording):
    """Program -> faults of its price."""
    database = recording.with_name("priced.sql")
    shutil.copy(recording, database)
    file = Database(database)
    results = {}
    for program, (op, _, _) in PRICES.items():
        start, end, _ = file.find(f"^program {program}$")
        file.launch(program, file.find(f"'aten': '{re.escape(op)}['.]", (start, end)))
    file.close()
    rows = rows_of(build, database, "kernel,op,flops,bytes,reason,path")
    for program, (_, flops, size) in PRICES.items():
        found = [row for row in rows if row["kernel"] == program]
        results[program] = [] if len(found) == 1 else [["rows " + program, str(found)]]
        for row in found:
            if row["flops"] != flops:
                results[program].append([f"flops {row['flops']} for {flops}", str(row)])
            if row["bytes"] != size:
                results[program].append([f"bytes {row['bytes']} for {size}", str(row)])
            if row["reason"]:
                results[program].append([f"reason {row['reason'][0]}", str(row)])
    return results


# Products of a program that are no part of the arithmetic of its model.
LEFT_OUT = {"mamba": {"aten::bmm"}}  # The scan.


def compare_products(told, process, rows):
    """Program -> faults, where the FLOPs of its products and convolutions are not within 1 % of those told."""
    sums = dict.fromkeys(told, 0)
    for row in rows:
        call = process.calls[int(row["kernel"][1:])]
        if call.program in sums and call.name not in LEFT_OUT.get(call.program, ()):
            sums[call.program] += _product_flops(row, call)
    return {program: [(f"product FLOPs {sums[program]} for {expected}", "")] for program, expected in told.items()
            if abs(sums[program] - expected) > 0.01 * expected}


def _product_flops(row, call):
    """Those of one kernel, without the bias, which is one FLOP more for each number that comes out. The kernel of
    convolution_backward is for one of its gradients: there are as many as were asked for."""
    flops = row["flops"]
    if flops is None:
        return 0
    if row["op"] == "convolution_backward":
        wanted = next(value["l"] for value in reversed(call.inputs) if isinstance(value, dict) and "l" in value)
        return flops * sum(wanted[:2])
    sizes = dict(part.split("=") for part in row["params"].split(",") if "=" in part)
    if row["op"] == "addmm":
        flops -= int(sizes["M"]) * int(sizes["N"])
    elif row["op"] == "convolution" and call.inputs[2] is not None:
        flops -= int(sizes["N"]) * int(sizes["K"]) * int(sizes["P"]) * int(sizes["Q"])
    return flops
