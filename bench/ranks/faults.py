"""What a view of ranks says of faults that are known: faults.sh."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

HERE = pathlib.Path(__file__).resolve().parent
FILES = {"missing", "twice", "other run", "fewer steps", "other work"}
NOT_OF_RANKS = {"network", "missing"}  # No row of `stragglers` says so.


CLEAN = [("clean, 8 ranks", ["--layout 4x2x1", "--layout 2x2x2", "--layout 8x1x1",
                               "--layout 4x2x1 --experts"]),
         ("clean, 64 ranks", ["--layers 2 --layout 8x2x4", "--layers 2 --layout 2x8x4"]),
         ("clean, 512 ranks", ["--layers 1 --batches 1 --layout 64x8x1"]),
         ("clean, 1 to 5 steps", ["--layers 2 --layout 2x2x2", "--layers 2 --layout 1x2x4", "--layout 4x2x1 --experts"])]


class Case(typing.NamedTuple):
    group: str
    options: list[str]
    who: str  # A pattern of the whole of `who`; "": nothing may be named.
    causes: set[str]
    what: str = ""


def case(group: str, options: str, who: str, causes: set[str], what: str = "") -> Case:
    return Case(group, options.split(), who, causes, what)


def shown(op: str) -> str:
    """The pattern of an op as views name it."""
    return rf"\b{re.escape(op.removeprefix('aten::'))}\b"


def cases(large: bool) -> list[Case]:
    found = []
    base = "--steps 24 --layout 4x2x1"
    for rank, op, percent, step in [(3, "aten::mm", 20, 8), (6, "aten::gelu", 80, 0), (1, "aten::mm", 10, 0),
                                    (7, "aten::_scaled_dot_product_flash_attention", 30, 6)]:
        slow = f"--straggler {rank},{op},{percent},{step}"
        found.append(case("slow op", f"{base} {slow}", f"rank {rank}", {"slow op", "slow ops"}, shown(op)))
        if not large:
            continue
        found.append(case("slow op, 64 ranks", f"--steps 20 --layers 2 --layout 8x2x4 {slow}", f"rank {rank}",
                          {"slow op", "slow ops"}, shown(op)))
        found.append(case("slow op, PP4 x TP8", f"--steps 20 --layers 2 --layout 1x8x4 {slow}", f"rank {rank}",
                          {"slow op", "slow ops"}, shown(op)))
    for rank in range(8):
        found.append(case("one layer +30 %", f"{base} --layer {rank},{rank % 4},30,{rank % 3 * 4}", f"rank {rank}",
                          {"slow layer"}))
    long = "--steps 40 --layout 4x2x1"
    for rank in (0, 3, 5):
        found.append(case("pause every 7th step", f"{long} --pause {rank},40,7", f"rank {rank}", {"gc.collect"}))
        found.append(case("loader in 6 of 40 steps", f"{long} --loader {rank},40,5+9+14+22+30+37", f"rank {rank}",
                          {"data loader"}))
        for every in (3, 10):
            found.append(case(f"op x 1.5 every {every} steps", f"{long} --every {rank},aten::mm,50,{every}",
                              f"rank {rank}", {"slow op", "slow ops"}, shown("aten::mm")))
        found.append(case("GPU +10 %", f"{base} --ramp {rank},10,6,6", f"rank {rank}", {"slow GPU"}))
        found.append(case("ramp of a GPU", f"{base} --ramp {rank},15,6,22", f"rank {rank}", {"slow GPU"}))
    for node in (0, 1):
        found.append(case("slow node", f"--steps 24 --layout 8x2x1 --node-ranks 4 --slow-node {node},10,5",
                          f"node .*{node}", {"slow node"}))
        found.append(case("slow data group", f"{base} --slow-group data,{node},4,8",
                          r"data .*", {"network"}))
        pair = f"{2 * node}, {2 * node + 1}"
        found.append(case("slow link of a tensor group", f"{base} --slow-link {2 * node},{2 * node + 1},4,8",
                          rf"tensor \[{pair}\]", {"network"}))
        found.append(case("half of the network slow", f"{base} --slow-group tensor,0,4,8 --slow-group tensor,2,4,8 "
                          f"--slow-group data,{node},4,8", r"the network|tensor .*|data .*", {"network"}))
    for a, b, factor, first in [(0, 4, 4, 8), (3, 5, 2, 0), (1, 7, 1.5, 12)]:
        layout = "4x2x1" if (b - a) % 2 == 0 else "8x1x1"
        found.append(case("slow pair in all_to_all", f"--steps 24 --layout {layout} --experts --clocks 900,20 "
                          f"--slow-pair {a},{b},{factor},{first}", f"link of ranks {a} and {b}", {"network"}))
        found.append(case("slow pair, 1 to 5 steps", f"--steps {1 + first // 3} --layout {layout} --experts --clocks 900,20 "
                          f"--slow-pair {a},{b},4,0", f"link of ranks {a} and {b}", {"network"}))
    for a, b, layout in [(0, 4, "2x2x2"), (3, 7, "2x2x2"), (2, 4, "2x1x4")]:
        found.append(case("slow pair in send and recv", f"--steps 24 --layout {layout} --clocks 900,20 "
                          f"--slow-pair {a},{b},6,8", f"link of ranks {a} and {b}", {"network"}))
    for rank in (2, 5):
        found.append(case("wider matrices", f"{base} --shapes {rank},1.5", f"rank {rank}", {"other work"}))
        found.append(case("missing rank", f"{base} --missing {rank}", f"rank {rank}", {"missing"}))
        found.append(case("two files of a rank", f"{base} --twice {rank}", f"rank {rank}", {"twice"}))
    for steps in (1, 3, 5):
        found.append(case("1 to 5 steps", f"--steps {steps} --layout 4x2x1 --straggler 3,aten::mm,50,0", "rank 3",
                          {"slow op", "slow ops"}, shown("aten::mm")))
    return found


def who_of(row: dict, options: list[str]) -> str:
    """Of a row of `stragglers`: each rank of a slow node has one."""
    if row["verdict"] != "slow node":
        return f"rank {row['rank']}"
    return f"node {int(row['rank']) // int(options[options.index('--node-ranks') + 1])}"


def rows_of(binaries: pathlib.Path, view: str, folder: pathlib.Path, options: list[str]) -> list[tuple[str, str, str]]:
    """Who, cause and what."""
    run = subprocess.run([binaries / "prof", "--quiet", "--view", view, "--json", folder], capture_output=True,
                         text=True, check=False)
    if run.returncode not in (0, 3):
        sys.exit(f"faults.py: {run.stderr}")
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    if view == "culprits":
        return [(row["who"], row["cause"] or "", row["what"] or "") for row in rows]
    return [(who_of(row, options), row["verdict"], f"{row['op']} {row['layer']}") for row in rows
            if row["verdict"] not in ("follows", "chance", "few steps")]


class Tally:
    def __init__(self) -> None:
        self.runs = self.named = self.wrong = self.missed = 0


def made(folder: pathlib.Path, options: list[str], seed: int) -> None:
    subprocess.run([sys.executable, "-B", HERE / "make_ranks.py", folder, *options, "--seed", str(seed)], check=True,
                   capture_output=True)


def main() -> int:
    words = argparse.ArgumentParser(prog="faults.sh")
    words.add_argument("bin", type=pathlib.Path)
    words.add_argument("--view", default="culprits,stragglers", help="views, separated by commas (%(default)s)")
    words.add_argument("--only", default="")
    words.add_argument("--clean", default="20,0,0,9", metavar="N[,N,N,N]",
                       help="how many runs without a fault, of 8, 64 and 512 ranks, and of 8 with 1 to 5 steps (%(default)s)")
    words.add_argument("--large", action="store_true", help="faults in 32 and 64 ranks too")
    words.add_argument("-v", dest="verbose", action="store_true", help="rows that are wrong, and what is missed")
    options = words.parse_args()
    views = options.view.split(",")
    tallies: dict[tuple[str, str], Tally] = {}
    all_of = [one for one in cases(options.large) if options.only in one.group]
    counts = [int(count) for count in options.clean.split(",")]
    for (name, layouts), count in zip(CLEAN, counts):
        if options.only in name:
            steps = [1, 3, 5] if "steps" in name else [20]
            all_of += [Case(name, f"--steps {steps[i // len(layouts) % len(steps)]} {layouts[i % len(layouts)]} --clocks 900,20".split(), "", set())
                       for i in range(count)]
    for seed, one in enumerate(all_of):
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work) / "ranks"
            made(folder, one.options, seed + 1)
            rows_by_view = {view: rows_of(options.bin, view, folder, one.options) for view in views}
        for view, rows in rows_by_view.items():
            expected = bool(one.who) and not (view == "stragglers" and one.causes <= NOT_OF_RANKS)
            right = [row for row in rows if one.who and re.fullmatch(one.who, row[0]) and row[1] in one.causes
                     and re.search(one.what, row[2])]
            wrong = [row for row in rows if row not in right]
            tally = tallies.setdefault((one.group, view), Tally())
            tally.runs += 1
            tally.named += bool(right)
            tally.missed += expected and not right
            tally.wrong += len(wrong)
            if options.verbose and (wrong or (expected and not right)):
                print(f"{view}: {one.group}: {' '.join(one.options)} seed {seed + 1}: {'' if right else 'missed; '}"
                      f"{wrong[:4]}", flush=True)
    print(f"{'':30} {'view':11} {'runs':>5} {'named':>6} {'missed':>7} {'wrong rows':>11}")
    for (name, view), tally in tallies.items():
        print(f"{name:30} {view:11} {tally.runs:5} {tally.named:6} {tally.missed:7} {tally.wrong:11}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
