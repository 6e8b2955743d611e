#!/usr/bin/env python3
"""Kills one process of oplens-mpi at a random moment, starts it again, and compares.

    kill_check.py --bin BUILD/bin --mpi openmpi|mpich [--runs N] [--seed S] FOLDER

FOLDER has the traces. For each run: the tables must be those of `prof` over the folder, and no summary that was
there after the kill may be written again. Exit code 1, and a line, where one is not so.
"""
import argparse
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

LONGEST_END_S = 30
VIEWS = "distributed,collectives,operators,overview"


def command(options: argparse.Namespace, summaries: pathlib.Path, output: pathlib.Path) -> list[str]:
    start = [f"/usr/bin/mpirun.{options.mpi}", "-n", "3"]
    if options.mpi == "openmpi":
        start += ["--allow-run-as-root", "--oversubscribe"]
    return start + [str(options.bin / f"oplens-mpi.{options.mpi}"), "--quiet", "--view", VIEWS, "--json", "-o",
                    str(output), "--summary-dir", str(summaries), str(options.folder)]


def descendants(parent: int) -> list[int]:
    """Processes of oplens-mpi below a process that live, by their ids."""
    parents = {}
    names = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        name, _, rest = stat.rpartition(")")
        if rest.split()[0] == "Z":
            name = ""
        names[int(entry.name)] = name.partition("(")[2]
        parents[int(entry.name)] = int(rest.split()[1])
    found = []
    for process in parents:
        above = process
        while above in parents and above != parent:
            above = parents[above]
        if above == parent and names[process].startswith("oplens-mpi"):
            found.append(process)
    return sorted(found)


def kill_one(process: subprocess.Popen, chance: random.Random) -> bool:
    victims = descendants(process.pid)
    if not victims:
        return False
    try:
        os.kill(chance.choice(victims), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def await_end(process: subprocess.Popen) -> str:
    """What is wrong; "" for nothing. The mpirun of Open MPI 4.1.4 may wait for ever once a process was killed early,
    though all of them have ended: it is ended then."""
    try:
        process.wait(LONGEST_END_S)
        return ""
    except subprocess.TimeoutExpired:
        left = descendants(process.pid)
        for one in left + [process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        process.wait()
        if left:
            return f"{len(left)} processes lived on for {LONGEST_END_S} s after one was killed"
        print("mpirun did not end, though all its processes had")
        return ""


def state(folder: pathlib.Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.glob("*.oplens")}


def one_run(options: argparse.Namespace, chance: random.Random, longest_s: float, expected: bytes,
            work: pathlib.Path) -> str:
    """What is wrong; "" for nothing."""
    summaries, output = work / "summaries", work / "rows.json"
    summaries.mkdir()
    process = subprocess.Popen(command(options, summaries, output), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(chance.uniform(0, longest_s))
    killed = kill_one(process, chance)
    problem = await_end(process)
    if problem:
        return problem
    done = state(summaries)
    again = subprocess.run(command(options, summaries, output), capture_output=True, text=True, check=False,
                           timeout=300)
    if again.returncode != 0:
        return f"the second start ended with {again.returncode}: {again.stderr.strip()}"
    if output.read_bytes() != expected:
        return "the rows differ"
    after = state(summaries)
    rewritten = [name for name in done if after.get(name) != done[name]]
    if rewritten:
        return f"summaries were written again: {', '.join(rewritten)}"
    print(f"{'killed' if killed else 'too late'}, {len(done)} of {len(after)} summaries were there: the same rows")
    return ""


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--bin", type=pathlib.Path, required=True)
    words.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    words.add_argument("--runs", type=int, default=2)
    words.add_argument("--seed", type=int, default=1)
    options = words.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        expected = pathlib.Path(folder) / "expected.json"
        subprocess.run([options.bin / "prof", "--quiet", "--view", VIEWS, "--json", "-o", expected, options.folder], check=True)
        whole = pathlib.Path(folder) / "whole"
        whole.mkdir()
        begin = time.monotonic()
        subprocess.run(command(options, whole, whole / "rows.json"), check=True)
        longest_s = time.monotonic() - begin
        for run in range(options.runs):
            work = pathlib.Path(folder) / str(run)
            work.mkdir()
            problem = one_run(options, chance, longest_s, expected.read_bytes(), work)
            if problem:
                print(f"run {run}: {problem}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
