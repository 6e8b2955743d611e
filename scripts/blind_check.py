#!/usr/bin/env python3
"""Hides launches of PyTorch profiler traces and checks what is inferred of their kernels.

For each trace the API calls, flows, 'External id's and host events that began in a hidden part are
removed; then prof must say of the hidden kernels what it says of them where nothing is hidden: op,
layer and shapes. Prints a line a trace: the share of hidden time that is said, and of that the share
that is right. Exits with 1 where a limit is broken.

  blind_check.py --bin build/release/bin [--head 30 | --every-second | --graphs] [--said 90]
                 [--right 99] [--wrong 0.1] TRACE...

--wrong instead of --said and --right: of traces that do not repeat, how much of the hidden time may
be said wrongly, in percent.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "Kernel", "Memcpy", "Memset",
          "cuda_sync"}
COLUMNS = "op,layer,shape,sil,evidence,confidence,kernel,phase,start"


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return json.loads(file.read().decode("utf-8", "replace"), strict=False)


def is_kernel(event):
    return event.get("cat") in ("kernel", "Kernel") and event.get("ph") == "X"


def steps_of(events):
    found = [(e["ts"], e["ts"] + e.get("dur", 0)) for e in events
             if e.get("ph") == "X" and str(e.get("name", "")).startswith("ProfilerStep")
             and e.get("cat") not in DEVICE]
    return sorted(set(found))


def hidden_spans(events, args):
    """The times of the host in which what began is hidden."""
    if args.head is not None:
        kernels = [e for e in events if is_kernel(e)]
        first = min(e["ts"] for e in kernels)
        last = max(e["ts"] + e.get("dur", 0) for e in kernels)
        return [(-float("inf"), first + (last - first) * args.head / 100)]
    return steps_of(events)[1::2]


def hide(trace, args):
    """Removes what tells of launches in hidden parts, or makes graph replays of steps."""
    events = trace["traceEvents"]
    spans = hidden_spans(events, args)
    inside = lambda t: any(a <= t < b for a, b in spans)
    graph = {}
    if args.graphs:
        for number, span in enumerate(spans):
            graph[span] = 2**30 + number
    hidden = set()
    of_graph = {}
    kept = []
    for e in events:
        if e.get("ph") == "X" and e.get("cat") not in DEVICE and "ts" in e and inside(e["ts"]):
            correlation = e.get("args", {}).get("correlation")
            if correlation is not None:
                hidden.add(correlation)
                for span, number in graph.items():
                    if span[0] <= e["ts"] < span[1]:
                        of_graph[correlation] = number
            step = args.graphs and str(e.get("name", "")).startswith("ProfilerStep")
            if not step:
                continue
        kept.append(e)
    out = []
    for e in kept:
        if e.get("ph") in ("s", "t", "f"):
            continue
        correlation = e.get("args", {}).get("correlation")
        if e.get("cat") in DEVICE and correlation in hidden:
            for key in ("External id", "external id"):
                e["args"].pop(key, None)
            if correlation in of_graph:
                e["args"]["correlation"] = of_graph[correlation]
        out.append(e)
    host = next((e for e in kept if e.get("cat") in ("cuda_runtime", "Runtime")), None)
    for (begin, end), number in graph.items():
        out.append({"ph": "X", "cat": host["cat"], "name": "cudaGraphLaunch", "pid": host["pid"],
                    "tid": host["tid"], "ts": begin + (end - begin) / 2, "dur": 1,
                    "args": {"correlation": number}})
    trace["traceEvents"] = out
    return hidden


def rows(args, path):
    command = [os.path.join(args.bin, "prof"), "--quiet", "--json", "-c", COLUMNS + ",corr", path]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    return [json.loads(line) for line in lines]


def check(args, path):
    trace = read(path)
    if not isinstance(trace, dict) or not any(map(is_kernel, trace.get("traceEvents", []))):
        print(f"{path}: no kernels")
        return True
    hidden = hide(trace, args)
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=args.tmp) as file:
        json.dump(trace, file)
        file.flush()
        found = rows(args, file.name)
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=args.tmp) as file:
        # The same numbers, which another writer may round.
        json.dump(read(path), file)
        file.flush()
        truth = rows(args, file.name)
    # Graph replays have correlation ids of their own, which order kernels of one start.
    order = lambda row: (row["start"], row["kernel"] or "", row["sil"] or 0)
    truth.sort(key=order)
    found.sort(key=order)
    total = said = right = layers = 0
    wrong = {}
    missed = {}
    for a, b in zip(truth, found):
        if a["kernel"] != b["kernel"] or a["start"] != b["start"]:
            sys.exit(f"{path}: the kernels do not match")
        if a["corr"] not in hidden or not a["op"] or a["evidence"] in ("repetition", "reference"):
            continue
        total += a["sil"]
        if b["evidence"] not in ("repetition", "reference"):
            key = "not said: " + str((a["op"], a["layer"], a["kernel"]))
            missed[key] = missed.get(key, 0) + b["sil"]
            continue
        said += b["sil"]
        same = (a["op"], a["shape"]) == (b["op"], b["shape"])
        if same and (a["layer"] == b["layer"] or not b["layer"]):
            right += b["sil"]
            layers += b["sil"] if a["layer"] == b["layer"] else 0
        else:
            key = str((a["op"], a["layer"], a["shape"], b["op"], b["layer"], b["shape"]))
            wrong[key] = wrong.get(key, 0) + b["sil"]
    share = lambda part, whole: 100.0 * part / whole if whole else 0.0
    print(f"{path}: hidden {total} ns, said {share(said, total):.2f} %, of that right "
          f"{share(right, said):.2f} %, with layer {share(layers, said):.2f} %, wrong of hidden "
          f"{share(said - right, total):.3f} %")
    if args.verbose:
        for of in (wrong, missed):
            for key, ns in sorted(of.items(), key=lambda item: -item[1])[:10]:
                print("   ", ns, key[:300])
    if args.wrong is not None:
        return share(said - right, total) <= args.wrong
    return share(said, total) >= args.said and share(right, said) >= args.right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--tmp", default=None)
    parser.add_argument("--head", type=float)
    parser.add_argument("--every-second", action="store_true")
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--said", type=float, default=90)
    parser.add_argument("--right", type=float, default=99)
    parser.add_argument("--wrong", type=float)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("trace", nargs="+")
    args = parser.parse_args()
    good = [check(args, path) for path in args.trace]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
