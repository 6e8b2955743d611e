"""Small recordings for examples/data, made where nothing of the machine can get into them: in a fresh folder, with
relative paths and an empty environment.
"""
import contextlib
import gzip
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import session

MOST_BYTES = 1_000_000
SCAN = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check_data_files.py"
# What the programs cannot do without, where it is set.
KEPT_VARIABLES = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OPLENS_CUPTI")

# Name of the file: command, options of record.
FILES = {
    "mlp_step.sql": (["./mlp_step_cuda", "2"], ()),
    "emit_nvtx.sql": (["python3", "step.py", "window", "--annotate", "emit_nvtx"], session.WINDOW),
    "oplens_torch.sql": (["python3", "step.py", "window", "--annotate", "oplens"], session.WINDOW),
    "graph.sql": (["python3", "step.py", "graph", "--annotate", "oplens"], ()),
}

README = """# Recorded profiles

Each file was made by `record` on a machine with an NVIDIA GPU ({gpu}; {torch}), in a fresh folder, with relative
paths and an environment of PATH{kept} alone, by `bench/recording/run.sh`:

{commands}
`step.py` is that of `bench/recording`, `mlp_step_cuda` the example. Then the pages of the database were made 4 KiB
small (`VACUUM`), which changes no row. `scripts/check_data_files.py` found no host name, user, environment or absolute
path in them.
"""


def neutral_environment():
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return dict(kept, PATH=f"{os.path.dirname(sys.executable)}:/usr/bin:/bin")


def fill(s, folder):
    """Puts the programs into the folder; oplens_annotate finds its library beside itself."""
    copies = [(s.build / "examples" / "mlp_step_cuda", "mlp_step_cuda"), (s.step_program, "step.py")]
    for name in ("oplens_annotate", "liboplens_torch.so", "liboplens_annotate.so.1"):
        copies.append((s.build / "lib" / name, name))
    for source, name in copies:
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
        elif os.path.exists(source):
            shutil.copy(source, os.path.join(folder, name))


def repack(source, target):
    """Writes the database with small pages and without what deleted rows left behind."""
    with contextlib.closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True, isolation_level=None)) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute("VACUUM INTO ?", (str(target),))


def make(s, name):
    command, options = FILES[name]
    data = s.out / "data"
    data.mkdir(exist_ok=True)
    (data / name).unlink(missing_ok=True)  # Of an earlier run.
    with tempfile.TemporaryDirectory() as folder:
        fill(s, folder)
        log = f"data.{name}"
        s.run(log, s.record_command(name, command, options), cwd=folder, environment=neutral_environment())
        s.refuse_fallback(log)
        # One whole database before and after: parse must not see a difference.
        before = s.run(f"{log}.before", [s.program("parse"), name], cwd=folder).read_bytes()
        repack(os.path.join(folder, name), data / name)
    after = s.run(f"{log}.after", [s.program("parse"), name], cwd=data).read_bytes()
    packed = len(gzip.compress((data / name).read_bytes(), mtime=0))
    faults = []
    if before != after or not after:
        faults.append("parse reads other records after VACUUM" if after else "parse reads no kernel")
    if packed >= MOST_BYTES:
        faults.append(f"{packed} bytes packed, {MOST_BYTES} are too many")
    return faults, f"{len(after.splitlines())} kernels, {packed} bytes packed"


def machine(s):
    """What the README tells of the machine: the GPU and PyTorch, no name."""
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=False,
                         capture_output=True, text=True).stdout.splitlines() if shutil.which("nvidia-smi") else []
    torch = subprocess.run([s.python, "-c", "import torch; print('PyTorch', torch.__version__)"], check=False,
                           capture_output=True, text=True).stdout.strip()
    return {"gpu": gpu[0].replace(", ", ", driver ") if gpu else "GPU unknown", "torch": torch or "PyTorch unknown"}


def commands():
    for name, (command, options) in FILES.items():
        yield f"    {' '.join(['record', '-f', '-o', name, *options, '--', *command])}\n"


def scrubbed(s):
    """The README, and no trace of the machine in any of the files."""
    data = s.out / "data"
    missing = [name for name in FILES if not (data / name).exists()]
    if missing:
        return [f"not made: {', '.join(missing)}"], ""
    kept = "".join(f", {name}" for name in KEPT_VARIABLES if name in os.environ)
    (data / "README.md").write_text(README.format(kept=kept, commands="".join(commands()), **machine(s)))
    scan = subprocess.run([sys.executable, str(SCAN), str(data), "--environment"], check=False, capture_output=True,
                          text=True)
    faults = scan.stdout.splitlines() + scan.stderr.splitlines()
    if scan.returncode != 0 and not faults:
        faults = [f"{SCAN.name}: exit code {scan.returncode}"]
    return faults if scan.returncode != 0 else [], f"{len(FILES)} files and their README in {data}"


def line(name):
    return f"Small recording {name}", lambda s: make(s, name)


LINES = [line(name) for name in FILES] + [("Small recordings: nothing of the machine in them", scrubbed)]
