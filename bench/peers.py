#!/usr/bin/env python3
"""Runs other programs that read traces of PyTorch's profiler beside ours, and compares every figure.

    peers.py BIN --self-test
    peers.py BIN [--corpus FOLDER] [--made FOLDER] [--peers PEER,...] [--python PYTHON] [--match TEXT] [--write FILE]

BIN: the folder of `prof`. A PEER is `tb` (torch_tb_profiler) or `hta` (HolisticTraceAnalysis), as PYTHON has it, or as
the folder FOLDER has it: `tb@FOLDER`, the sources of another version. Each trace is given to the peer and to `prof
--compat` in processes of their own with a limit of time. A line for each trace and view says `equal`, in how many cells
both differ and where first, or which of them cannot read it; then come the times and the memory of both. With --write
the same as Markdown. Exit code 0: everything equal that a peer can read; 1: not.

Figures must be equal. The plugin sums doubles of microseconds, which lose digits where a file has fractions: of such
files it is asked a second time, for the figures, with all times as whole nanoseconds. Where operators overlap by less
than a double tells, that changes what is inside what: then its first answer counts, to a microsecond and 1e-6. Shares
and means may differ by 1e-6 of the figure. What differs for a reason that docs/peers.md tells is `known`
(peers/views.py).
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))
import self_test  # noqa: E402
from views import KNOWN, OF_VIEW, VIEWS  # noqa: E402

TOLERANCE = 1e-6
GROUPS = ("ddp_sampled_w128", "dlrm_w8", "linear_tp2", "llama_tp2")
PAIRS = (("resnet50_num_workers_0", "resnet50_num_workers_4"),
         ("diff_ddp/control_a100_rank3", "diff_ddp/test_v100_rank1"), ("diff_tiny/base", "diff_tiny/test"),
         ("h100/bert_small", "mi300/bert_small"), ("h100/vit_nsfw", "mi300/vit_nsfw"),
         ("switch_moe/moe_train_early", "switch_moe/moe_train"))
# numpy sorts with the widest vectors that the processor has, and not alike with each: some figures of HTA are those of an
# unstable sort. This is the sort that every processor has.
ENVIRONMENT = {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
               "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
NOT_TRACES = ("execution_trace/et", "golden/", "memory_timeline/")


@dataclasses.dataclass
class Case:
    name: str
    kind: str  # Of "one" file, "ranks" or "diff".
    paths: list[str]


@dataclasses.dataclass
class Peer:
    name: str
    rules: str  # What --compat is given.
    python: str
    source: str  # Folder with its package; "": that of its Python.


@dataclasses.dataclass
class Cost:
    wall_s: float = 0
    cpu_s: float = 0
    peak_mb: float = 0

    def add(self, other):
        self.wall_s += other.wall_s
        self.cpu_s += other.cpu_s
        self.peak_mb = max(self.peak_mb, other.peak_mb)


@dataclasses.dataclass
class Outcome:
    case: str
    peer: str
    table: str
    verdict: str  # "equal", "known", "differs", "peer cannot", "ours cannot", "no rows"
    text: str = ""
    cells: int = 0


@dataclasses.dataclass
class Times:
    case: str
    peer: str
    megabytes: float
    theirs: Cost
    ours: Cost
    import_s: float


def measured(command, limit_s, environment=None):
    """Runs it: its cost, exit code, and what it printed on both streams; the code is None past the limit."""
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder) / "figures"
        starter = [sys.executable, "-I", "-S", str(HERE / "peers" / "measure.py"), str(figures)]
        with subprocess.Popen([*starter, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment, start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return Cost(limit_s), None, "", ""
        wall_s, cpu_s, peak_kib, code = figures.read_text().split()
        cost = Cost(float(wall_s), float(cpu_s), int(peak_kib) / 1024)
        return cost, int(code), out.decode(errors="replace"), err.decode(errors="replace")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:160] if lines else "no message"


def ask_peer(peer, case, limit_s, in_ns=False):
    """What it found: (cost, what peers/read_*.py wrote, error)."""
    kind = {"one": [], "diff": ["diff"], "ranks": [] if peer.rules == "hta" else ["distributed"]}[case.kind]
    environment = dict(os.environ, **ENVIRONMENT, PYTHONPATH=peer.source)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "tables.json"
        reader = str(HERE / "peers" / f"read_{peer.rules}.py")
        command = [peer.python, reader, str(out), *kind, *case.paths, *(["--ns"] if in_ns else [])]
        cost, code, _, err = measured(command, limit_s, environment)
        if code != 0 or not out.exists():
            return cost, None, f"no result in {limit_s} s" if code is None else last_line(err)
        return cost, json.loads(out.read_text()), ""


def our_commands(prof, peer, case, views):
    """The fewest command lines for these views: one for each --by."""
    start = [prof, "--quiet", "--json", "--compat", peer.rules]
    if case.kind == "diff":
        start += ["--diff", *case.paths]
        wanted = sorted({(OF_VIEW[view.view], view.by) for view in views})
    else:
        wanted = [(",".join(sorted({view.view for view in views if view.by == by})), by)
                  for by in sorted({view.by for view in views})]
    for names, by in wanted:
        paths = [] if case.kind == "diff" else case.paths
        yield by, [*start, *(["--view", names] if names else []), *(["--by", by] if by else []), *paths]


def ask_ours(prof, peer, case, views, limit_s):
    """(cost, rows by view and --by, error)."""
    total, rows = Cost(), {}
    for by, command in our_commands(prof, peer, case, views):
        cost, code, out, err = measured(command, limit_s)
        total.add(cost)
        if code != 0:
            return total, rows, last_line(err)
        for line in out.splitlines():
            row = json.loads(line)
            rows.setdefault((row["view"], by), []).append(row)
    return total, rows, ""


def numbered(view, rows):
    """Rows with what stands in no field: their number, that on their device, and how many a list has."""
    rows = [row for row in rows if all(row[key] == value for key, value in view.only.items())
            and all(row[key] != value for key, value in view.but.items())]
    if view.table == "diff: lists":
        names = ("added", "deleted", "increased", "decreased", "unchanged")
        return [{"list": name, "#list": sum(row["list"] == name for row in rows)} for name in names]
    devices = {}
    for i, row in enumerate(rows):
        device = row.get("device")
        row["#"], row["#device"] = i, devices.get(device, 0)
        devices[device] = row["#device"] + 1
    for fields in (("time_ns",), ("alloc_ns", "free_ns")) if view.view.startswith("memory") else ():
        start = min((row[key] for row in rows for key in fields if row.get(key) is not None), default=0)
        for row in rows:
            row.update({key: row[key] - start for key in fields if row.get(key) is not None})
    return rows


def key_text(value):
    if value is None or value == "":
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return str(value)
    return re.sub(r"^rank(?=\d+$)", "", str(value))


def keyed(view, columns, rows, unit):
    """Rows by the texts of their keys; several of one key in their order."""
    table = {}
    for row in rows:
        values = []
        for theirs, ours in view.keys:
            if ours == "rank" and view.kind == "one" and unit.one_rank:
                continue
            value = row.get(theirs if columns else ours)
            if columns and ours.endswith("_ns") and value is not None:
                value = round(value * unit.ns)
            values.append(key_text(value))
        table.setdefault(tuple(values), []).append(row)
    return table


@dataclasses.dataclass
class Unit:
    ns: int  # Times of the peer are so many ns.
    slack_ns: float  # What its times may differ by.
    one_rank: bool


def cell_of(row, names):
    """The first of these fields that is known."""
    return next((row[name] for name in names.split("|") if row.get(name) is not None), None)


def agrees(cell, theirs, ours, unit):
    if not cell.figure:
        return key_text(theirs) == key_text(ours)
    if theirs is None or ours is None:
        return theirs is None and ours is None
    is_time = cell.ours.endswith("_ns")
    expected = theirs * (unit.ns if is_time and cell.scale == 1000 else cell.scale)
    slack = unit.slack_ns if is_time else cell.slack
    exact = float(expected).is_integer() and float(ours).is_integer()
    return abs(ours - expected) <= slack + (0 if exact and slack == 0 else TOLERANCE * abs(expected) + 1e-9)


def compare(view, table, rows, unit):
    """(cells, cells that differ, the first of them)."""
    columns = table["columns"]
    theirs = keyed(view, columns, [dict(zip(columns, row)) for row in table["rows"]], unit)
    ours = keyed(view, None, rows, unit)
    cells, misses, first = 0, 0, ""
    absent = {cell.theirs for cell in view.cells} - set(columns) if columns else set()
    for key in {**theirs, **ours}:
        left, right = theirs.get(key, []), ours.get(key, [])
        for i in range(max(len(left), len(right))):
            for cell in view.cells:
                if cell.theirs in absent:
                    continue
                cells += 1
                told = left[i].get(cell.theirs) if i < len(left) else "no row"
                found = cell_of(right[i], cell.ours) if i < len(right) else "no row"
                if {told is None, found is None} == {True, False} and "no row" in (told, found):
                    continue  # Nothing said of it.
                if "no row" not in (told, found) and agrees(cell, told, found, unit):
                    continue
                misses += 1
                first = first or f"{' | '.join(key)[:80]} {cell.theirs}: {told}, ours {cell.ours} {found}"
    return cells, misses, first


def is_empty(view, rows):
    """Of a table of charts, rows without any figure count as none."""
    return all(cell_of(row, cell.ours) is None for row in rows for cell in view.cells)


def judge(case, peer, view, found, rows, error, unit):
    outcome = Outcome(case.name, peer.name, view.table, "")
    table = found["tables"].get(view.table)
    if table is None or "error" in table:
        outcome.verdict, outcome.text = "peer cannot", table["error"] if table else "no such table"
        return outcome
    if error:
        outcome.verdict, outcome.text = ("no rows", "") if not table["rows"] else ("ours cannot", error)
        return outcome
    rows = numbered(view, rows.get((view.view, view.by), []))
    if not table["rows"] and is_empty(view, rows):
        outcome.verdict = "no rows"
        return outcome
    outcome.cells, misses, outcome.text = compare(view, table, rows, unit)
    outcome.verdict = "differs" if misses else "equal"
    if misses:
        outcome.text = f"in {misses} of {outcome.cells} cells: {outcome.text}"
    return outcome


def known_reason(outcome):
    for peer, case, table, reason in KNOWN:
        if outcome.peer.startswith(peer) and re.search(case, outcome.case) and re.fullmatch(table, outcome.table):
            return reason
    return ""


def views_of(case, rules):
    if case.kind == "ranks" and rules == "hta":
        return [view for view in VIEWS if view.peer == "hta" and view.kind == "one" and view.table != "critical-path"]
    return [view for view in VIEWS if view.peer == rules and view.kind == case.kind]


def run_case(prof, peer, case, limit_s):
    """(outcomes, times)."""
    views = views_of(case, peer.rules)
    cost, found, error = ask_peer(peer, case, limit_s)
    if found is None:
        return [Outcome(case.name, peer.name, view.table, "peer cannot", error) for view in views], None
    unit = Unit(1000, 0, len(case.paths) == 1)
    our_cost, rows, our_error = ask_ours(prof, peer, case, views, limit_s)
    size = sum(os.path.getsize(path) for path in case.paths) / 1e6
    times = Times(case.name, peer.name, size, cost, our_cost, found["times"]["import"])
    exact = None
    if peer.rules == "tb" and found["fractions"]:
        unit.slack_ns = 1000
        # The means of several ranks are cut to whole microseconds.
        exact = ask_peer(peer, case, limit_s, in_ns=True)[1] if case.kind != "ranks" else None
    outcomes = []
    for view in views:
        outcome = judge(case, peer, view, exact, rows, our_error, Unit(1, 0, True)) if exact else None
        if outcome is None or outcome.verdict == "differs":
            outcome = judge(case, peer, view, found, rows, our_error, unit)
        reason = known_reason(outcome)
        if outcome.verdict == "differs" and reason:
            outcome.verdict, outcome.text = "known", f"{reason}: {outcome.text}"
        outcomes.append(outcome)
    return outcomes, times


def trace_name(path, root):
    name = str(path.relative_to(root))
    return re.sub(r"(\.pt\.trace)?\.json(\.gz)?$", "", name)


def corpus_cases(folder):
    root = pathlib.Path(folder) / "kineto"
    files = {trace_name(path, root): str(path) for path in sorted(root.glob("*/*.json*"))}
    for name, path in files.items():
        if not name.startswith(NOT_TRACES):
            yield Case(name, "one", [path])
    for group in GROUPS:
        yield Case(group, "ranks", [path for name, path in files.items() if name.startswith(group + "/")])
    for base, new in PAIRS:
        paths = [next(path for name, path in files.items() if name.startswith(side)) for side in (base, new)]
        yield Case(f"{base} -> {new.rsplit('/', 1)[-1]}", "diff", paths)


def made_cases(folder):
    """One run a folder, as ranks/make_ranks.py leaves it."""
    for run in sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir()):
        files = sorted(str(path) for path in run.glob("*.json*"))
        name = f"made-up {run.name}"
        if len(files) > 1:
            yield Case(name, "ranks", files)
        for path in files[:1]:
            yield Case(f"{name}/rank0", "one", [path])


def peers_of(text, python):
    peers = []
    for word in text.split(","):
        rules, _, source = word.partition("@")
        if rules not in ("tb", "hta"):
            sys.exit(f"peers.py: --peers {word}: there are tb and hta")
        peers.append(Peer(f"{rules}@{pathlib.Path(source).name}" if source else rules, rules, python, source))
    return peers


def line_of(outcome):
    return f"{outcome.case:45} {outcome.peer:10} {outcome.table:19} {outcome.verdict:12} {outcome.text}".rstrip()


def ratio(theirs, ours):
    return f"{theirs / ours:.1f}" if ours else "-"


TIME_TITLES = ("trace", "peer", "MB", "s", "CPU s", "peak MB", "our s", "our CPU s", "our peak MB", "times the CPU",
               "times the memory")


def time_row(times):
    theirs, ours = times.theirs, times.ours
    return (times.case, times.peer, f"{times.megabytes:.2f}", f"{theirs.wall_s:.2f}", f"{theirs.cpu_s:.2f}",
            f"{theirs.peak_mb:.0f}", f"{ours.wall_s:.2f}", f"{ours.cpu_s:.2f}", f"{ours.peak_mb:.0f}",
            ratio(theirs.cpu_s, ours.cpu_s), ratio(theirs.peak_mb, ours.peak_mb))


def total_row(all_times, peer):
    chosen = [times for times in all_times if times.peer == peer]
    theirs, ours = Cost(), Cost()
    for times in chosen:
        theirs.add(times.theirs)
        ours.add(times.ours)
    return time_row(Times("all", peer, sum(times.megabytes for times in chosen), theirs, ours, 0))


def summary(outcomes, peer):
    counts = {}
    for outcome in outcomes:
        if outcome.peer == peer:
            counts[outcome.verdict] = counts.get(outcome.verdict, 0) + 1
    cells = sum(outcome.cells for outcome in outcomes if outcome.peer == peer)
    return f"{peer}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) + \
        f"; {cells} cells compared"


def markdown_table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for row in rows:
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def write_markdown(path, peers, outcomes, all_times):
    with open(path, "w", encoding="utf-8") as out:
        for peer in peers:
            out.write(summary(outcomes, peer.name) + "\n\n")
        shown = [outcome for outcome in outcomes if outcome.verdict not in ("equal", "no rows")]
        out.write(markdown_table(("trace", "peer", "table", "verdict", ""),
                                 [(one.case, one.peer, one.table, one.verdict, one.text) for one in shown]))
        out.write("\n")
        rows = [time_row(times) for times in all_times] + [total_row(all_times, peer.name) for peer in peers]
        out.write(markdown_table(TIME_TITLES, rows))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", help="folder of prof")
    parser.add_argument("--corpus", default=os.environ.get("OPLENS_CORPUS_DIR"))
    parser.add_argument("--made", help="folder of runs of ranks/make_ranks.py")
    parser.add_argument("--peers", default="tb,hta")
    parser.add_argument("--python", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--match", default="", help="only traces whose names match this")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each process")
    parser.add_argument("--self-test", action="store_true", help="check what needs no peer")
    parser.add_argument("--write", help="a file for the tables, as Markdown")
    return parser.parse_args()


def main():
    options = arguments()
    prof = str(pathlib.Path(options.bin).resolve() / "prof")
    if options.self_test:
        sys.exit(self_test.run(sys.modules[__name__], prof))
    peers = peers_of(options.peers, options.python)
    cases = [*(corpus_cases(options.corpus) if options.corpus else []),
             *(made_cases(options.made) if options.made else [])]
    outcomes, all_times = [], []
    for case in cases:
        if not re.search(options.match, case.name):
            continue
        for peer in peers:
            found, times = run_case(prof, peer, case, options.limit)
            outcomes += found
            all_times += [times] if times else []
            print("\n".join(line_of(outcome) for outcome in found), flush=True)
    print()
    for row in (TIME_TITLES, *map(time_row, all_times), *(total_row(all_times, peer.name) for peer in peers)):
        print("".join(f"{cell:45}" if i == 0 else f"{cell:>13}" for i, cell in enumerate(row)))
    print()
    for peer in peers:
        print(summary(outcomes, peer.name))
    if options.write:
        write_markdown(options.write, peers, outcomes, all_times)
    sys.exit(any(outcome.verdict in ("differs", "ours cannot") for outcome in outcomes))


if __name__ == "__main__":
    main()
