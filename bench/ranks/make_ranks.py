#!/usr/bin/env python3
"""Makes traces of the ranks of one training run, as PyTorch's profiler has them.

    make_ranks.py FOLDER [--layout DPxTPxPP] [--steps N] [--size MB] [...]
    make_ranks.py FOLDER --from TRACE.json[.gz] --ranks N [...]

FOLDER/rank0.json, FOLDER/rank1.json, ...: a transformer in replicas (DP) of shards (TP) in stages (PP), whose ranks
meet in all_reduce, all_gather, reduce_scatter, all_to_all (--experts), send and recv. What one rank does late, others
wait for. All times are invented. With --from the events are those of TRACE, the same for all ranks.

The same options make the same bytes. Memory grows with the ranks and with one step of one rank, not with their
number.
"""
import argparse
import gzip
import json
import pathlib
import random
import re
import sys

from rank_faults import Failure, add_faults, faults_of
from rank_program import Block, Program
from rank_times import Run
from rank_trace import BASE_NS, Clock, RankTrace, groups_of_run


def numbers(text: str, separator: str, count: int, what: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(separator)]
    except ValueError:
        values = []
    if len(values) != count:
        raise Failure(f"{what}: '{text}' is not {count} numbers with '{separator}' between them")
    return values


def layout_of(text: str) -> tuple[int, int, int]:
    match = re.fullmatch(r"(\d+)x(\d+)x(\d+)", text)
    if match is None or 0 in (sizes := tuple(int(size) for size in match.groups())):
        raise Failure(f"--layout {text}: give replicas, shards and stages as 4x2x1")
    return sizes  # type: ignore[return-value]


def clocks_of(options: argparse.Namespace, ranks: int) -> list[Clock]:
    """Rank 0 keeps the common clock with --clocks."""
    clocks = [Clock()] * ranks
    if options.clocks:
        most_us, most_ppm = numbers(options.clocks, ",", 2, "--clocks")
        chance = random.Random(f"clocks {options.seed}")
        for rank in range(1, ranks):
            clocks[rank] = Clock(int(chance.uniform(-most_us, most_us) * 1000),
                                 int(chance.uniform(-most_ppm, most_ppm) * 1000))
    for text in options.clock:
        rank, offset_us, ppm = numbers(text, ",", 3, "--clock")
        if not 0 <= rank < ranks:
            raise Failure(f"--clock {text}: there is no such rank")
        clocks[int(rank)] = Clock(int(offset_us * 1000), int(ppm * 1000))
    return clocks


def without_last(options: argparse.Namespace) -> dict[int, int]:
    return {int(rank): int(count) for rank, count in
            (numbers(text, ",", 2, "--without-last") for text in options.without_last)}


def groups_of(texts: list[str], ranks: int) -> dict[str, list[int]]:
    groups = {}
    for text in texts:
        match = re.fullmatch(r"([a-z_]+)=(\d+(,\d+)+)", text)
        if match is None:
            raise Failure(f"--group {text}: give a name and at least two ranks as experts=1,4,6")
        groups[match[1]] = sorted({int(rank) for rank in match[2].split(",")})
        if groups[match[1]][-1] >= ranks:
            raise Failure(f"--group {text}: there is no rank {groups[match[1]][-1]}")
    return groups


def file_names(options: argparse.Namespace, ranks: int) -> list[str]:
    names = [f"rank{rank}.json" for rank in range(ranks)]
    for text in options.swap:
        a, b = (int(rank) for rank in numbers(text, ",", 2, "--swap"))
        if not (0 <= a < ranks and 0 <= b < ranks):
            raise Failure(f"--swap {text}: there are ranks 0 to {ranks - 1}")
        names[a], names[b] = names[b], names[a]
    return names


def chosen_ranks(options: argparse.Namespace, ranks: int) -> list[int]:
    first, last = 0, ranks - 1
    if options.only:
        first, last = (int(rank) for rank in numbers(options.only, "-", 2, "--only"))
    return [rank for rank in range(ranks) if first <= rank <= last and rank not in options.missing]


def run_of(options: argparse.Namespace, pads: int) -> Run:
    layout = layout_of(options.layout)
    ranks = layout[0] * layout[1] * layout[2]
    groups = groups_of(options.group, ranks)
    program = Program(layout, options.layers, options.batches, pads, list(groups), options.experts)
    operators = {work.name for stage in range(program.stages) for block in program.step(stage)
                 if isinstance(block, Block) for work in block.works()}
    return Run(program, groups, str(options.seed), options.noise, faults_of(options, ranks, operators))


def pads_for(options: argparse.Namespace) -> int:
    """How many operators more a block needs for files of --size."""
    if not options.size:
        return options.pads
    sizes = []
    for pads in (0, 4):
        run = run_of(options, pads)
        trace = RankTrace(0, run, groups_of_run(run, list(run.members)), Clock(), options.sequence, options.node_ranks)
        sizes.append(len(trace.step(0, run.run_step()[0], sys.maxsize)) * options.steps)
    return max(0, round((options.size * 1_000_000 - sizes[0]) / ((sizes[1] - sizes[0]) / 4)))


def make(options: argparse.Namespace) -> list[pathlib.Path]:
    run = run_of(options, pads_for(options))
    clocks = clocks_of(options, len(run.ranks))
    names = file_names(options, len(run.ranks))
    groups = groups_of_run(run, list(run.members))
    last = without_last(options)
    traces = {rank: RankTrace(rank, run, groups, clocks[rank], options.sequence, options.node_ranks)
              for rank in chosen_ranks(options, len(run.ranks))}
    paths = {rank: options.folder / names[rank] for rank in traces}
    for rank, trace in traces.items():
        paths[rank].write_text(trace.head())
    for step in range(options.steps):
        items = run.run_step()
        for rank, trace in traces.items():
            keep = trace.collectives_of_step() * options.steps - last.get(rank, 0)
            with paths[rank].open("a") as file:
                file.write(trace.step(step, items[rank], keep))
    for rank, trace in traces.items():
        with paths[rank].open("a") as file:
            file.write(trace.tail())
    for rank in options.twice:
        if rank not in paths:
            raise Failure(f"--twice {rank}: there is no such file")
        paths[len(run.ranks) + rank] = options.folder / f"again_{names[rank]}"
        paths[len(run.ranks) + rank].write_bytes(paths[rank].read_bytes())
    return list(paths.values())


def copy_of(recorded: dict, rank: int, ranks: int, clock: Clock) -> dict:
    """A trace with another rank and clock; a group of all recorded ranks becomes one of all that there are."""
    copy = {key: value for key, value in recorded.items() if key != "traceEvents"}
    known = dict(copy.get("distributedInfo", {}))
    world = known.get("world_size")
    everyone = list(range(ranks))
    configuration = known.get("pg_config")
    if isinstance(configuration, list):
        known["pg_config"] = [{**group, "pg_size": ranks, "ranks": everyone} if group.get("pg_size") == world else group
                              for group in configuration]
    copy["distributedInfo"] = {**known, "rank": rank, "world_size": ranks}
    times = [event["ts"] for event in recorded["traceEvents"] if isinstance(event.get("ts"), (int, float))]
    first = min(times, default=0)
    events = []
    for event in recorded["traceEvents"]:
        event = dict(event)
        if isinstance(event.get("ts"), (int, float)):
            since = event["ts"] - first
            event["ts"] = round(event["ts"] + clock.offset_ns / 1000 + since * clock.drift_ppb / 1e9, 3)
        arguments = event.get("args")
        if isinstance(arguments, dict) and world is not None and arguments.get("Group size") == world:
            arguments = event["args"] = {**arguments, "Group size": ranks}
            if "Process Group Ranks" in arguments:
                arguments["Process Group Ranks"] = str(everyone)
        events.append(event)
    copy["traceEvents"] = events
    return copy


def make_copies(options: argparse.Namespace) -> list[pathlib.Path]:
    path = options.source
    recorded = json.loads((gzip.open(path) if path.suffix == ".gz" else path.open("rb")).read())
    if not isinstance(recorded, dict) or "traceEvents" not in recorded:
        raise Failure(f"{path}: is no trace with a head")
    if not options.ranks:
        raise Failure("--from: say how many with --ranks")
    clocks = clocks_of(options, options.ranks)
    names = file_names(options, options.ranks)
    paths = []
    for rank in chosen_ranks(options, options.ranks):
        paths.append(options.folder / names[rank])
        paths[-1].write_text(json.dumps(copy_of(recorded, rank, options.ranks, clocks[rank])) + "\n")
    return paths


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="Times are on a common clock but for --clock and --clocks.")
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--layout", default="4x2x1", help="replicas x shards x stages (%(default)s)")
    words.add_argument("--steps", type=int, default=4)
    words.add_argument("--layers", type=int, default=4, help="of a stage (%(default)s)")
    words.add_argument("--batches", type=int, default=2, help="micro-batches of a step (%(default)s)")
    words.add_argument("--pads", type=int, default=0, help="operators more in each block (%(default)s)")
    words.add_argument("--size", type=float, metavar="MB", help="in the place of --pads: so large is each file")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--noise", type=float, default=1, metavar="PERCENT", help="of the time of a block (%(default)s)")
    words.add_argument("--no-sequence", dest="sequence", action="store_false", help="collectives are not numbered")
    words.add_argument("--group", action="append", default=[], metavar="NAME=R,R,...", help="one more all_reduce a step")
    words.add_argument("--experts", action="store_true", help="replicas share experts: an all_to_all before and after each mlp")
    add_faults(words)
    words.add_argument("--clock", action="append", default=[], metavar="RANK,US,PPM")
    words.add_argument("--clocks", metavar="US,PPM", help="each rank's is off by chance, by so much at most")
    words.add_argument("--missing", action="append", type=int, default=[], metavar="RANK", help="has no file")
    words.add_argument("--without-last", action="append", default=[], metavar="RANK,COUNT", help="has not its last collectives")
    words.add_argument("--swap", action="append", default=[], metavar="RANK,RANK", help="have the names of each other's files")
    words.add_argument("--only", metavar="FIRST-LAST", help="the ranks of which files are written")
    words.add_argument("--from", dest="source", type=pathlib.Path, metavar="TRACE")
    words.add_argument("--ranks", type=int, help="of --from")
    return words


def main() -> int:
    options = parser().parse_args()
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        paths = make_copies(options) if options.source else make(options)
    except (Failure, OSError, ValueError) as error:
        print(f"make_ranks.py: {error}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in paths)
    print(f"{options.folder}: {len(paths)} ranks, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
