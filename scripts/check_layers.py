#!/usr/bin/env python3
"""Checks that every #include between the project's folders follows the layers.

    check_layers.py [--root DIR]    lists each forbidden include; exit code 1 if there is one
    check_layers.py --self-test     checks that it finds forbidden includes in a made-up tree

A layer is a folder. Its files may include each other, and those of the folders that LAYERS names for
it. Every folder with C++ files must stand there; no two folders may include each other, whatever
LAYERS allows.
"""
import argparse
import pathlib
import re
import sys
import tempfile

ANY = object()
MODEL = {"base", "parse/model"}
READER = MODEL | {"parse/source", "parse/readers/common", "nvtx_annotate/vocabulary"}
PRICED = MODEL | {"ops", "ops/kernels", "ops/gpu", "ops/network", "ops/rules"}
# What a view is made of,
VIEW = PRICED | {"prof/verdicts", "parse/join", "parse/records", "prof/price", "prof/run", "prof/table", "prof/where", "prof/views/common"}
# and what they look at.
VIEWS = {"prof/views"} | {"prof/views/" + name for name in
                          ("common", "recording", "kernels", "streams", "calls", "memory", "collectives", "path")}
READ = {"parse/source", "parse/readers", "parse/execution", "parse/counters", "parse/records"}

LAYERS = {
    # What emitters, recorders and readers of markers agree on.
    "nvtx_annotate/vocabulary": set(),
    "nvtx_annotate": {"nvtx_annotate/vocabulary"},
    "nvtx_annotate/torch": {"nvtx_annotate", "nvtx_annotate/vocabulary"},
    "base": set(),
    # What both sides of the recorder agree on; in the recorded program nothing else is at hand.
    "record/spool": {"nvtx_annotate/vocabulary"},
    "record/inject": {"record/spool", "nvtx_annotate/vocabulary"},
    "record": {"record/spool", "parse/readers/nvprof", "base", "nvtx_annotate",
               "nvtx_annotate/vocabulary"},
    # A file becomes a trace,
    "parse/model": {"base", "nvtx_annotate/vocabulary"},
    "parse/source": MODEL,
    "parse/readers/common": MODEL | {"parse/source"},
    "parse/readers/nvprof": READER,
    "parse/readers/nsys": READER,
    "parse/readers/kineto": READER,
    "parse/provenance": MODEL | {"parse/source"},
    "parse/readers": READER | {"parse/readers/nvprof", "parse/readers/nsys", "parse/readers/kineto",
                               "parse/provenance"},
    # what another file tells of its ops is added,
    "parse/execution": MODEL | {"parse/source"},
    # or of its kernels,
    "parse/counters": MODEL | {"parse/source"},
    # a trace is joined,
    "parse/join": MODEL | {"nvtx_annotate/vocabulary"},
    "parse/records": MODEL | {"parse/join"},
    "parse/chrome": MODEL | {"parse/join"},
    "parse/check": MODEL | {"parse/join", "parse/records"},
    # its kernels get costs,
    "ops": MODEL,
    "ops/families": MODEL | {"ops"},
    "ops/kernels": MODEL | {"ops"},
    "ops/gpu": MODEL | {"ops", "ops/kernels"},
    "ops/rules": MODEL | {"ops", "ops/kernels"},
    # and a model's configuration its FLOPs,
    "ops/network": {"base"},
    "prof/price": PRICED,
    # tables know no kernel,
    "prof/table": MODEL | {"prof/price"},
    # conditions choose rows of them,
    "prof/where": MODEL | {"prof/table"},
    # what several views compute of one rank,
    # rules that conclude from figures, which everything below reads,
    "prof/verdicts": {"base"},
    "prof/run": MODEL | {"prof/verdicts", "ops", "ops/kernels", "parse/join", "parse/records"},
    # what its steps waited for, one thing after the other,
    "prof/path": MODEL | {"parse/join", "prof/run", "prof/verdicts"},
    # what to change about it,
    "prof/advice": MODEL | {"prof/run", "prof/verdicts"},
    # and views make rows of all.
    "prof/views/common": VIEW,
    "prof/views/recording": VIEW,
    "prof/views/kernels": VIEW | {"parse/chrome", "prof/path", "prof/views/recording", "prof/views/streams"},
    "prof/views/streams": VIEW,
    "prof/views/calls": VIEW,
    "prof/views/memory": VIEW | {"prof/views/calls"},
    "prof/views/collectives": VIEW | {"prof/views/calls"},
    "prof/views/path": VIEW | {"prof/advice", "prof/path", "prof/views/calls", "prof/views/collectives", "prof/views/streams"},
    # Their list, and which of them a command line asks for.
    "prof/views": VIEW | VIEWS,
    # The rules of other tools, with the table of their views.
    "prof/compat/tb": PRICED | VIEWS | {"parse/join", "prof/diff", "prof/price", "prof/run", "prof/table"},
    "prof/compat/hta": MODEL | VIEWS | {"parse/join", "prof/diff", "prof/run", "prof/table"},
    "prof/compat/torch": MODEL | VIEWS | {"parse/join", "prof/run"},
    "prof/compat": MODEL | VIEWS | {"prof/compat/hta", "prof/compat/tb", "prof/compat/torch", "prof/diff", "prof/table"},
    # What they found is kept in files.
    "prof/summary_file": MODEL | VIEWS | {"parse/source", "prof/price", "prof/run"},
    # Tables of two runs are joined.
    "prof/diff": MODEL | VIEWS | {"prof/table", "prof/verdicts"},
    # Of them, what may break a build.
    "prof/gate": MODEL | VIEWS | {"prof/diff", "prof/table", "prof/where"},
    "prof/input": MODEL | READ | {"prof/price"},
    # A page holds tables and a timeline, packed.
    "report/data": {"base"},
    "report/timeline": MODEL | {"ops", "ops/kernels", "parse/join", "prof/path", "prof/price",
                                "prof/run", "report/data"},
    # The programs.
    "parse": MODEL | READ | VIEWS | {"prof", "parse/join", "parse/chrome", "parse/check", "prof/run"},
    "prof": PRICED | VIEWS | {"prof/compat", "prof/price", "prof/run", "prof/table", "prof/where", "prof/diff", "prof/gate",
                      "prof/input", "prof/summary_file",
                      "nvtx_annotate/vocabulary"},
    # A run that is read once and asked again and again, for what is no command line.
    "engine": MODEL | VIEWS | {"parse/source", "prof", "prof/diff", "prof/input", "prof/price", "prof/run",
                               "prof/summary_file", "prof/table"},
    "report": MODEL | VIEWS | {"parse/records", "prof", "prof/diff", "prof/price", "prof/table", "prof/run", "prof/input",
                       "prof/summary_file", "report/data", "report/timeline"},
    "oplens": PRICED | VIEWS | {"prof/verdicts", "parse/records", "prof", "prof/price", "prof/table", "prof/run", "prof/input",
                       "prof/summary_file"},
    # What agents ask: messages, and the answers to them.
    "mcp/protocol": {"base"},
    "mcp/answers": MODEL | {"prof/table"},
    "mcp": PRICED | VIEWS | {"engine", "mcp/answers", "mcp/protocol", "oplens", "prof", "prof/diff", "prof/input",
                             "prof/price", "prof/run", "prof/table"},
    # The Python module: the first client of a run that is kept.
    "python": MODEL | VIEWS | {"engine", "oplens", "ops", "ops/gpu", "prof", "prof/diff", "prof/input", "prof/price",
                               "prof/table", "report"},
    # Many processes, one for some of the files.
    "mpi": MODEL | VIEWS | {"prof", "prof/input", "prof/summary_file"},
    "test": ANY,
    "examples": ANY,
    "bench": ANY,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def layer_of(path):
    """The layer that the file is in: its folder. Below test, examples and bench it is these."""
    folder = path.rpartition("/")[0]
    top = folder.split("/")[0]
    return top if LAYERS.get(top) is ANY else folder


def violations(root):
    """Yields one sentence for each fault of the tree at `root`."""
    folders = sorted({layer.split("/")[0] for layer in LAYERS})
    files = [f for folder in folders for f in sorted((root / folder).rglob("*")) if f.suffix in (".h", ".cc")]
    if not files:
        yield f"{root}: no C++ files found"
    included_by = {}
    for file in files:
        name = file.relative_to(root).as_posix()
        source = layer_of(name)
        if source not in LAYERS:
            yield f"{name}: the folder is no layer: add it to LAYERS"
            continue
        for included in INCLUDE.findall(file.read_text(encoding="utf-8")):
            target = layer_of(included)
            if target not in LAYERS:
                yield f'{name}: "{included}" is not a path from the root of the project'
            elif LAYERS[source] is not ANY and target != source:
                if target not in LAYERS[source]:
                    yield f"{name}: {source} must not include {included}"
                included_by.setdefault((source, target), name)
    for (source, target), name in sorted(included_by.items()):
        if source < target and (target, source) in included_by:
            yield f"{source} and {target} include each other: {name}, {included_by[target, source]}"


def self_test():
    cases = {
        ("ops/a.cc", "parse/model/b.h"): 0,
        ("ops/a.cc", "parse/source/b.h"): 1,
        ("ops/a.cc", "prof/b.h"): 1,
        ("ops/a.cc", "ops/families/b.h"): 1,
        ("ops/families/a.cc", "ops/b.h"): 0,
        ("base/a.h", "parse/model/b.h"): 1,
        ("parse/model/a.h", "base/b.h"): 0,
        ("parse/model/a.h", "parse/b.h"): 1,
        ("parse/readers/nsys/a.cc", "parse/readers/common/b.h"): 0,
        ("parse/readers/nsys/a.cc", "parse/readers/nvprof/b.h"): 1,
        ("parse/readers/common/a.cc", "parse/readers/b.h"): 1,
        ("nvtx_annotate/a.cc", "parse/model/b.h"): 1,
        ("nvtx_annotate/torch/a.cc", "nvtx_annotate/vocabulary/b.h"): 0,
        ("record/inject/a.cc", "record/b.h"): 1,
        ("record/inject/a.cc", "record/spool/b.h"): 0,
        ("prof/views/calls/a.cc", "parse/source/b.h"): 1,
        ("prof/views/common/a.cc", "prof/views/calls/b.h"): 1,
        ("prof/table/a.cc", "prof/views/b.h"): 1,
        ("prof/a.cc", "test/support/b.h"): 1,
        ("parse/source/a.cc", "b.h"): 1,
        ("parse/unheard_of/a.cc", "base/b.h"): 1,
        ("bench/a.cc", "test/support/b.h"): 0,
        ("test/prof/a.cc", "prof/views/b.h"): 0,
    }
    for (name, included), expected in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True)
            file.write_text(f'#include "{included}"\n', encoding="utf-8")
            found = list(violations(pathlib.Path(folder)))
            if len(found) != expected:
                sys.exit(f"{name} includes {included}: expected {expected} faults, found {found}")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, included in (("ops/kernels/a.h", "ops/gpu/a.h"), ("ops/gpu/a.h", "ops/kernels/a.h")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f'#include "{included}"\n', encoding="utf-8")
        if len(list(violations(root))) != 2:
            sys.exit("two folders that include each other were not found")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    faults = list(violations(options.root))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
