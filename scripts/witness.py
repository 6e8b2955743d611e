#!/usr/bin/env python3
"""Tells whether parse and prof still print what they printed, byte for byte, on real profiles.

    witness.py --bin DIR [--corpus DIR] [--jobs N] [--only TEXT] [--all]
                                                                   compares with the committed hashes
    witness.py --bin DIR [--corpus DIR] --update                   writes them anew
    witness.py --self-test                                         checks that it finds differences

The corpus is that of OPLENS_CORPUS_DIR unless it is given; without either the exit code is 77.

Each case is a command line over one or several files of the corpus, or over a file damaged on
purpose. Its hash is taken of standard output, standard error and the exit code; a database that is
written counts as its dump. The hashes stand in test/golden/witness.txt, one line a case. Exit code
1 when a case differs, is new or is gone.

A change that means to alter an output rewrites the file and says in CHANGELOG.md which cases changed
and why.
"""
import argparse
import concurrent.futures
import gzip
import hashlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "test/golden/witness.txt"

# What every profile goes through: name of the case, program, arguments before the file.
FORMS = [
    ("dict", "parse", []),
    ("jsonl", "parse", ["--format", "jsonl"]),
    ("chrome", "parse", ["--format", "chrome"]),
    ("check", "parse", ["--check"]),
    ("keep-open", "parse", ["--keep-open", "--strict"]),
    ("plain", "prof", ["-c", "all"]),
    ("table", "prof", ["-w", "170"]),
    ("wide", "prof", ["-c", "all", "-w", "900"]),
    ("csv", "prof", ["-c", "all", "--csv"]),
    ("json", "prof", ["-c", "all", "--json"]),
    ("sqlite", "prof", ["--sqlite", "OUT"]),
    ("by-op", "prof", ["--by", "op,dir", "-c", "all", "--csv"]),
    ("by-size", "prof", ["--by", "op,m,n,k", "--markdown"]),
    ("by-layer", "prof", ["--by", "layer,phase", "-w", "170"]),
    ("by-kernel", "prof", ["--by", "kernel,stream,device", "--top", "10", "--json"]),
    ("by-shape", "prof", ["--by", "op,shape,dtype,role", "--sort", "-count", "--csv"]),
    ("by-step", "prof", ["--by", "rank,step", "--sort", "step", "--csv"]),
    ("copies", "prof", ["--copies", "--csv"]),
    ("outer", "prof", ["-c", "all", "--csv", "--op", "outer"]),
    ("range", "prof", ["--range", "(?i)layer|forward|backward|step", "-c", "all", "--csv"]),
    ("step", "prof", ["--step", "(?i)(?:iter|step|layer)[^0-9]*([0-9]+)", "--by", "step", "--csv"]),
    ("views", "prof", ["--view", "overview,gpu,operators,groups,kernel-types,temporal,losses", "--json"]),
    ("views-tb", "prof", ["--view", "overview,gpu,operators,groups", "--compat", "tb", "--json"]),
    ("views-hta", "prof", ["--view", "groups,kernel-types,temporal", "--compat", "hta", "--json"]),
    ("more-views", "prof", ["--view", "modules,stacks,memory,memory-ops,idle,launches,queue,bandwidth,critical-path,"
                            "roofline,gemms,mfu,events,distributed,collectives", "--json"]),
    ("more-views-tb", "prof", ["--view", "modules,memory-ops,distributed,collectives", "--compat", "tb", "--json"]),
    ("more-views-hta", "prof", ["--view", "idle,launches,queue,bandwidth", "--compat", "hta", "--json"]),
    ("rules", "prof", ["--rules", "rules.toml", "--gpu", "V100 SXM2", "-c", "all", "--csv"]),
]

RULES = r"""
[[op]]
name = "relu_"
args = ["x[*rows,H]"]
[op.forward]
vec = "2*rows*H"
bytes = "bytes(x)"

[[op]]
name = "mm"
args = ["a[M,K]", "b[K,N]"]
estimate = true
[op.forward]
mma = "2*M*N*K"
bytes = "bytes(a) + bytes(b)"

[[kernel]]
pattern = 'elementwise'
role = "layout"

[[tensor_core]]
pattern = 'gemm'
use = 1
math = "fp16"
"""

# Runs of several files: their name, their files or folders.
SETS = [
    ("dlrm_w8", ["kineto/dlrm_w8"]),
    ("llama_tp2", ["kineto/llama_tp2"]),
    ("mixed", ["nvprof/lm.sql", "kineto/h100/bert_small.json.gz", "nsys/dlprof_dummy.sqlite"]),
    ("foreign", ["dict"]),
    ("twice", ["kineto/linear_tp2", "kineto/linear_tp2/rank1.json.gz"]),
]
SET_FORMS = ("dict", "chrome", "check", "csv", "by-op", "by-step", "copies", "sqlite")

# These read traces as the corpus has them, packed, and so do sets of them; the folder for that.
PACKED_FORMS = ("dict", "csv")
PACKED = "packed"
# What is said of these names that they were packed.
PACKED_ALWAYS = ("kineto/execution_trace/et.json.gz",)

# Large blocks of memory, which are kept: a fifth less time.
ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:"
                                               "glibc.malloc.mmap_threshold=4294967296:"
                                               "glibc.malloc.trim_threshold=4294967296"}

# Files that are no whole profile: their name, what they are made of.
SIGNATURES = {
    "empty.sql": b"",
    "blank.json": b"  \n\n",
    "git_lfs.sqlite": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "zip.json": b"PK\x03\x04rest of it",
    "xz.json": b"\xfd7zXZ\x00rest of it",
    "bzip2.json": b"BZh91AY&SY",
    "pickle2.dict": b"\x80\x02}q\x00.",
    "pickle4.dict": b"\x80\x04}q\x00.",
    "utf16.dict": "{'kShortName': 'a'}\n".encode("utf-16"),
    "program.dict": b"\x7fELF\x02\x01\x01",
    "session.nvvp": b"<?xml version='1.0'?><session/>\n",
    "page.html": b"<html></html>\n",
    "table.csv": b'"Idx","Kernel"\n"1","k"\n',
    "list.json": b"[1, 2, 3]\n",
    "object.json": b'{"a": 1}\n',
    "trace.json": b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k"',
    "bom.json": b'\xef\xbb\xbf{"traceEvents": []}\n',
    "row.jsonl": b'{"schema": 1, "idx": 1}\n',
    "record.jsonl": b'{"kShortName": "k", "kDuration": 1}\n',
    "record.dict": b"{'kShortName': 'k', 'kDuration': 1, 'tid': 1, 'device': 0, 'stream': 7, 'grid': (1, 1, 1), "
                   b"'block': (1, 1, 1)}\n{'kShortName': 'k'}\nno record\n",
    "report.nsys-rep": b"\x00\x01\x02 a report of Nsight Systems",
    "report.qdrep": b"\x00\x01\x02 a report of Nsight Systems",
    "raw.qdstrm": b"\x00\x01\x02 a recording of Nsight Systems",
    "zstd.json": b"\x28\xb5\x2f\xfd cut off",
    "noise.sqlite": bytes(range(256)) * 8,
}
# Cut off after this share of their bytes, or with bytes changed.
DAMAGED = ["nvprof/lm.sql", "nvprof/gpu_ml.nvvp", "nsys/mmagic.sqlite", "kineto/h100/bert_small.json",
           "kineto/dlrm_w8/rank1.json", "kineto/h100/bert_small.json.gz"]
DAMAGED_FORMS = ("dict", "chrome", "check", "csv", "copies")

WRONG_USES = [
    ("parse", []), ("parse", ["--help"]), ("parse", ["--format", "xml", "nvprof/lm.sql"]),
    ("parse", ["--nonsense"]), ("parse", ["no-such-file.sql"]), ("parse", ["--check", "--format", "dict", "nvprof/lm.sql"]),
    ("prof", ["-h"]), ("prof", ["-c", "nonsense", "nvprof/lm.sql"]), ("prof", ["-w", "5", "nvprof/lm.sql"]),
    ("prof", ["--csv", "--json", "nvprof/lm.sql"]), ("prof", ["--by", "nonsense", "nvprof/lm.sql"]),
    ("prof", ["--by", "op,op", "nvprof/lm.sql"]), ("prof", ["--by", "op", "--sort", "x", "nvprof/lm.sql"]),
    ("prof", ["--gpu", "nonsense", "nvprof/lm.sql"]), ("prof", ["--op", "middle", "nvprof/lm.sql"]),
    ("prof", ["--range", "(", "nvprof/lm.sql"]), ("prof", ["--copies", "--by", "op", "nvprof/lm.sql"]),
    ("prof", ["no-such-file.sql"]), ("prof", ["--copies", "damaged/record.dict"]),
    ("prof", ["--sqlite", "-", "nvprof/lm.sql"]), ("prof", ["--top", "3", "nvprof/lm.sql"]),
]


def unpack(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(source, "rb") as packed, open(target, "wb") as out:
        shutil.copyfileobj(packed, out)


def lay_out(corpus, work):
    """Makes the folders that the commands run in: in PACKED traces are as the corpus has them. Returns the names
    of the profiles."""
    profiles = []
    for family in ("nvprof", "nsys", "kineto", "dict", "memory"):
        for source in sorted((corpus / family).rglob("*.gz")):
            name = source.relative_to(corpus)
            if "golden" in name.parts:
                continue
            if family == "kineto":
                # Under the same name: that a trace is packed changes nothing but the time that it takes.
                link = work / PACKED / name
                link.parent.mkdir(parents=True, exist_ok=True)
                os.symlink(source.resolve(), link)
            else:
                name = name.with_suffix("")
            unpack(source, work / name)
            profiles.append(name.as_posix())
    damaged = work / "damaged"
    damaged.mkdir()
    for name, content in SIGNATURES.items():
        (damaged / name).write_bytes(content)
    for name in DAMAGED:
        if (corpus / name).exists():
            content = (corpus / name).read_bytes()
        elif (corpus / (name + ".gz")).exists():
            content = gzip.decompress((corpus / (name + ".gz")).read_bytes())
        else:
            continue
        flat = name.replace("/", "_")
        (damaged / ("cut_" + flat)).write_bytes(content[:len(content) * 2 // 3])
        changed = bytearray(content)
        for at in range(len(changed) // 5, len(changed), len(changed) // 9):
            changed[at] ^= 0x15
        (damaged / ("changed_" + flat)).write_bytes(bytes(changed))
    (work / PACKED).mkdir(exist_ok=True)
    for folder in (work, work / PACKED):
        (folder / "rules.toml").write_text(RULES, encoding="utf-8")
    return profiles


def cases(profiles, work):
    """Yields (names, program, arguments, folder). Where there is a second name, its case is `prof` over what the first
    printed, through a pipe, as the older way of working has it."""
    forms = {form[0]: form for form in FORMS}

    def packed(files):
        return work / PACKED if all((work / PACKED / file).exists() for file in files) else work

    for profile in profiles:
        for form, program, arguments in FORMS:
            folder = packed([profile]) if form in PACKED_FORMS or profile in PACKED_ALWAYS else work
            names = [f"{form} {profile}"] + ([f"pipe {profile}"] if form == "dict" else [])
            yield names, program, arguments + [profile], folder
    for name, files in SETS:
        if all((work / file).exists() for file in files):
            for form in SET_FORMS:
                yield [f"{form} set:{name}"], forms[form][1], forms[form][2] + files, packed(files)
    for file in sorted((work / "damaged").iterdir()):
        for form in DAMAGED_FORMS:
            yield [f"{form} damaged/{file.name}"], forms[form][1], forms[form][2] + [f"damaged/{file.name}"], work
        yield [f"records damaged/{file.name}"], "prof", ["--csv", "-c", "all", "<", f"damaged/{file.name}"], work
    for program, arguments in WRONG_USES:
        yield ["usage " + " ".join([program] + arguments)], program, arguments, work


def dump(path):
    with sqlite3.connect(path) as database:
        return "\n".join(database.iterdump()).encode()


def hash_of(result, out=None):
    """Of what a program printed, and of the database `out`."""
    digest = hashlib.sha256()
    printed = [str(result.returncode).encode(), result.stdout, result.stderr]
    if out is not None:
        printed = [part.replace(out.encode(), b"OUT") for part in printed]
    for part in printed:
        digest.update(len(part).to_bytes(8, "little") + part)
    if out is not None and os.path.exists(out):
        digest.update(dump(out))
    return digest.hexdigest()[:16]


def run(case, binaries):
    """Runs what cases() yields and returns the hashes by name."""
    names, program, arguments, folder = case
    arguments = list(arguments)
    out = None
    if "OUT" in arguments:
        out = tempfile.mkdtemp(dir=folder) + "/out.db"
        arguments[arguments.index("OUT")] = out
    standard_input = subprocess.DEVNULL
    if "<" in arguments:
        at = arguments.index("<")
        standard_input = open(folder / arguments[at + 1], "rb")
        del arguments[at:]
    how = {"cwd": folder, "env": ENVIRONMENT, "capture_output": True, "check": False}
    result = subprocess.run([binaries / program, *arguments], stdin=standard_input, **how)
    hashes = [hash_of(result, out)]
    if len(names) > 1:
        piped = subprocess.run([binaries / "prof", "-c", "all", "--csv"], input=result.stdout, **how)
        hashes.append(hash_of(piped))
    if out is not None:
        shutil.rmtree(os.path.dirname(out))
    if standard_input is not subprocess.DEVNULL:
        standard_input.close()
    return dict(zip(names, hashes))


def measure(corpus, binaries, jobs, only):
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        todo = [case for case in cases(lay_out(corpus, work), work) if any(only in name for name in case[0])]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            found = [run_of.items() for run_of in pool.map(lambda case: run(case, binaries), todo)]
    return {name: value for hashes in found for name, value in hashes if only in name}


def read(path):
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line[17:]: line[:16] for line in lines}


def differences(expected, found):
    """One line for each case that is not as committed."""
    lines = [f"changed: {name}" for name in expected if name in found and found[name] != expected[name]]
    lines += [f"new: {name}" for name in found if name not in expected]
    lines += [f"gone: {name}" for name in expected if name not in found]
    return lines


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "bin").mkdir()
        for program in ("parse", "prof"):
            path = root / "bin" / program
            path.write_text(f'#!/bin/sh\necho "{program} $*"\necho note >&2\nexit 3\n')
            path.chmod(0o755)
        for family in ("nvprof", "nsys", "kineto", "dict", "memory"):
            (root / "corpus" / family).mkdir(parents=True)
        (root / "corpus/nvprof/a.sql.gz").write_bytes(gzip.compress(b"content"))
        before = measure(root / "corpus", root / "bin", 1, "nvprof/a.sql")
        if len(before) <= len(FORMS) or len(set(before.values())) != len(before):
            sys.exit(f"too few cases or hashes: {before}")
        if differences(before, measure(root / "corpus", root / "bin", 2, "nvprof/a.sql")):
            sys.exit("two runs of the same programs differ")
        script = (root / "bin/prof").read_text()
        for old, new in (("echo note", "echo other"), ("exit 3", "exit 0"), ('echo "prof', 'echo "x')):
            (root / "bin/prof").write_text(script.replace(old, new))
            after = measure(root / "corpus", root / "bin", 1, "nvprof/a.sql")
            if "changed: csv nvprof/a.sql" not in differences(before, after):
                sys.exit(f"a change of '{old}' was not noticed")
            if "changed: dict nvprof/a.sql" in differences(before, after):
                sys.exit("a program that did not change differs")
        if differences({"a": "1"}, {"b": "1"}) != ["new: b", "gone: a"]:
            sys.exit("new and gone cases are not told")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default=os.environ.get("OPLENS_CORPUS_DIR"))
    parser.add_argument("--bin", type=pathlib.Path, help="folder of parse and prof")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    parser.add_argument("--all", action="store_true", help="name every case that differs, not 40")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    if options.bin is None:
        parser.error("--bin is needed")
    if not options.corpus:
        print("no corpus: set OPLENS_CORPUS_DIR or give --corpus")
        sys.exit(77)
    corpus = pathlib.Path(options.corpus)
    if not (corpus / "nvprof").is_dir():
        sys.exit(f"{corpus}: no folder nvprof: this is no corpus")
    for program in ("parse", "prof"):
        if not os.access(options.bin / program, os.X_OK):
            sys.exit(f"{options.bin / program}: no such program; build it first")
    found = measure(corpus.resolve(), options.bin.resolve(), options.jobs, options.only)
    if options.update:
        expected = {name: value for name, value in read(GOLDEN).items() if options.only not in name}
        lines = sorted(f"{value} {name}" for name, value in {**expected, **found}.items())
        lines.sort(key=lambda line: line[17:])
        GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")
    expected = {name: value for name, value in read(GOLDEN).items() if options.only in name}
    faults = differences(expected, found)
    print("\n".join((faults if options.all else faults[:40]) + [f"{len(found)} cases, {len(faults)} not as committed"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
