#!/usr/bin/env python3
"""Checks that every #include between the project's folders follows the layers.

    check_layers.py [--root DIR]    lists each forbidden include; exit code 1 if there is one
    check_layers.py --self-test     checks that it finds forbidden includes in a made-up tree

A file may include headers of its own layer and of those that LAYERS names for it. The longest prefix
decides which layer a path belongs to.
"""
import argparse
import pathlib
import re
import sys
import tempfile

ANY = object()
PRODUCT = {"nvtx_annotate", "base", "parse/model", "parse", "ops", "prof", "record"}
LAYERS = {
    "nvtx_annotate": {"nvtx_annotate/marker_format.h"},
    # The adaptor writes calls in the form in which the readers have them.
    "nvtx_annotate/torch": {"nvtx_annotate", "nvtx_annotate/marker_format.h",
                            "parse/model/torch_schema.h"},
    "parse/model/torch_schema.h": set(),
    # What the texts of markers agree on.
    "nvtx_annotate/marker_format.h": set(),
    "base": set(),
    "parse/model": {"base", "parse/model/torch_schema.h", "nvtx_annotate/marker_format.h"},
    "parse": {"parse/model", "base", "nvtx_annotate/marker_format.h"},
    "ops": {"parse/model", "base"},
    "prof": {"ops", "parse/model", "base"},
    # The program reads profiles too; the library does not.
    "prof/prof_main.cc": {"prof", "prof/profile_records.h", "parse", "ops", "parse/model", "base"},
    "prof/profile_records.h": {"prof", "parse", "ops", "parse/model", "base"},
    "prof/profile_records.cc": {"prof", "prof/profile_records.h", "parse", "ops", "parse/model",
                                "base"},
    "record": {"record/spool_format.h", "record/activity_columns.h", "record/output_name.h", "parse",
               "parse/model", "base", "nvtx_annotate", "nvtx_annotate/marker_format.h"},
    # What lives inside the recorded program: nothing that allocates, throws or prints.
    "record/inject": {"record/spool_format.h", "record/activity_columns.h", "record/output_name.h",
                      "nvtx_annotate/marker_format.h"},
    # What both sides agree on.
    "record/spool_format.h": set(),
    "record/activity_columns.h": {"record/spool_format.h"},
    "record/output_name.h": set(),
    "test/house/consumer": PRODUCT,
    "test": ANY,
    "examples": ANY,
    "bench": ANY,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def layer_of(path):
    """The longest entry of LAYERS that is `path` or a folder above it; None for none."""
    parts = path.split("/")
    for n in range(len(parts), 0, -1):
        prefix = "/".join(parts[:n])
        if prefix in LAYERS:
            return prefix
    return None


def violations(root):
    """Yields one sentence for each fault of the tree at `root`."""
    folders = sorted({layer.split("/")[0] for layer in LAYERS})
    files = [f for folder in folders for f in sorted((root / folder).rglob("*")) if f.suffix in (".h", ".cc")]
    if not files:
        yield f"{root}: no C++ files found"
    for file in files:
        name = file.relative_to(root).as_posix()
        source = layer_of(name)
        for included in INCLUDE.findall(file.read_text(encoding="utf-8")):
            target = layer_of(included)
            if target is None:
                yield f'{name}: "{included}" is not a path from the root of the project'
            elif LAYERS[source] is not ANY and target != source and target not in LAYERS[source]:
                yield f"{name}: {source} must not include {included}"


def self_test():
    cases = {
        ("ops/a.cc", "parse/model/b.h"): 0,
        ("ops/a.cc", "parse/b.h"): 1,
        ("ops/a.cc", "prof/b.h"): 1,
        ("base/a.h", "parse/model/b.h"): 1,
        ("parse/model/a.h", "base/b.h"): 0,
        ("parse/model/a.h", "parse/b.h"): 1,
        ("parse/readers/a.cc", "parse/b.h"): 0,
        ("prof/a.cc", "parse/b.h"): 1,
        ("prof/prof_main.cc", "parse/b.h"): 0,
        ("prof/a.cc", "test/support/b.h"): 1,
        ("parse/a.cc", "b.h"): 1,
        ("bench/a.cc", "test/support/b.h"): 0,
    }
    for (name, included), expected in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True)
            file.write_text(f'#include "{included}"\n', encoding="utf-8")
            found = list(violations(pathlib.Path(folder)))
            if len(found) != expected:
                sys.exit(f"{name} includes {included}: expected {expected} faults, found {found}")


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
