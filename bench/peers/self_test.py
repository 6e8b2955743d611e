"""What can be checked of bench/peers.py without the peers: every figure that it compares is in rows of ours, and a
difference is found."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def made_files(folder):
    """Two runs of two ranks, of PyTorch's profiler with steps."""
    paths = []
    for name, steps in (("base", "3"), ("new", "4")):
        subprocess.run([sys.executable, "-B", str(ROOT / "bench/ranks/make_ranks.py"), f"{folder}/{name}", "--layout",
                        "2x1x1", "--steps", steps, "--size", "0.2"], check=True, stdout=subprocess.DEVNULL)
        paths.append([f"{folder}/{name}/rank{rank}.json" for rank in (0, 1)])
    return paths


def fields_are_there(peers, prof, folder):
    """Problems: fields of ours that no row has. Of views without rows in these traces nothing is said."""
    base, new = made_files(folder)
    cases = {"one": peers.Case("one", "one", base[:1]), "ranks": peers.Case("ranks", "ranks", base),
             "diff": peers.Case("diff", "diff", [base[0], new[0]])}
    problems, met = [], 0
    for view in peers.VIEWS:
        peer = peers.Peer(view.peer, view.peer, "", "")
        _, rows, error = peers.ask_ours(prof, peer, cases[view.kind], [view], 60)
        if error:
            problems.append(f"{view.peer} {view.table}: {error}")
            continue
        rows = peers.numbered(view, rows.get((view.view, view.by), []))
        if not rows:
            continue
        met += 1
        wanted = [ours for _, ours in view.keys] + [name for cell in view.cells for name in cell.ours.split("|")]
        problems += [f"{view.peer} {view.table}: rows of ours have no {name}" for name in wanted if name not in rows[0]]
    if met < 20:
        problems.append(f"only {met} views have rows of made-up traces")
    return problems


def differences_are_found(peers):
    view = next(view for view in peers.VIEWS if (view.peer, view.table) == ("hta", "idle"))
    table = {"columns": ["rank", "stream", "idle_category", "idle_time", "idle_time_ratio"],
             "rows": [[0, 7, "host_wait", 12.0, 0.75], [0, 7, "other", 4.0, None]]}
    rows = [{"rank": None, "stream": 7, "cause": "host_wait", "idle_ns": 12_000, "share": 0.75},
            {"rank": None, "stream": 7, "cause": "other", "idle_ns": 4_000, "share": None}]
    unit = peers.Unit(1000, 0, True)
    problems = []
    if peers.compare(view, table, rows, unit) != (4, 0, ""):
        problems.append("equal tables differ")
    for key, value in (("idle_ns", 12_001), ("share", None), ("cause", "kernel_wait")):
        changed = [dict(rows[0], **{key: value}), rows[1]]
        if peers.compare(view, table, changed, unit)[1] == 0:
            problems.append(f"another {key} is not found")
    if peers.compare(view, table, rows[:1], unit)[1] != 1:
        problems.append("a missing row is not found")
    if peers.compare(view, dict(table, rows=table["rows"][:1]), rows, unit)[1] != 1:
        problems.append("a row too many is not found")
    return problems


def run(peers, prof):
    with tempfile.TemporaryDirectory() as folder:
        problems = differences_are_found(peers) + fields_are_there(peers, prof, folder)
    for problem in problems:
        print(f"peers.py: {problem}", file=sys.stderr)
    return 1 if problems else 0
