"""profiled.py BUILD FOLDER FAMILY: whether all that torch.profiler of PyTorch 2 writes of a family of programs is
read: the calls that the profiler itself counted, memory, by every view and by the page, without a fault.

The exit code is 77 where PyTorch 2 is missing.
"""
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RANKS = {"sharded": 2, "distributed": 2}
# Of two compilations of the network, the second comes out of the cache.
KERNELS = {"graph_0_cpp_fused_gelu_native_layer_norm_0": "gelu+layer_norm", "graph_0_cpp_fused__softmax_1": "softmax"}


# Of what the profiler files under operators, ranges with words for a reader are labels to us ("Torch-Compiled Region:
# 0/0"), and so are those of the code of DDP ("torch::distributed::reducer::mul_out").
IS_LABEL = re.compile(r"[A-Z][\w-]*( [\w:/-]+)+$|torch(::|\.)distributed(::|\.)").match


class Profiled:
    def __init__(self, build, folder, family):
        self.build, self.folder, self.family = pathlib.Path(build).resolve(), pathlib.Path(folder).resolve(), family
        self.faults = []

    def expect(self, found, expected, what):
        if found != expected:
            self.faults.append(f"{what}: {found}, not {expected}")

    def record(self, folder, ranks):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("OPLENS_", "LD_PRELOAD"))},
                       "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "INDUCTOR_PROVENANCE": "1",
                       "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor"),
                       "OPLENS_PROGRAMS_EXTENSION": str(self.build / "lib/libprograms_extension.so")}
        if self.family == "inductor":
            environment["TORCH_TRACE"] = str(folder)
        if ranks > 1:
            environment.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(ranks),
                               GLOO_SOCKET_IFNAME="lo")
        command = [sys.executable, str(HERE / "profiled_run.py"), self.family, str(folder)]
        running = [subprocess.Popen(command, cwd=HERE, env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, errors="replace") for rank in range(ranks)]
        for process in running:
            told = process.communicate()[0]
            if process.returncode != 0:
                sys.exit(f"{' '.join(command)}: {process.returncode}\n{told[-4000:]}")

    def program(self, name, *arguments):
        done = subprocess.run([str(self.build / "bin" / "oplens"), name, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode != 0 or "bad-event" in done.stderr:
            self.faults.append(f"{name} {arguments}: {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def rows(self, view, trace, *more):
        return [json.loads(line) for line in self.program("prof", "--json", "--view", view, *more, trace).splitlines()]

    def check_trace(self, trace, counts):
        calls = {}
        for row in self.rows("operators", trace):
            calls[row["op"]] = calls.get(row["op"], 0) + row["calls"]
        labels = {name for name in counts["calls"] if name not in calls and IS_LABEL(name)}
        for name in sorted(set(calls) | set(counts["calls"]) - labels):
            self.expect(calls.get(name, 0), counts["calls"].get(name, 0), f"{trace.name}: calls of {name}")
        # A curve has the moments at which something changed, and one before.
        self.expect(len(self.rows("memory", trace)) > 1, counts["memory"] > 0, f"{trace.name}: memory")

    def check_all_views(self, traces):
        views = [line.split()[0] for line in self.program("prof", "--view", "list").splitlines() if line.strip()]
        views = [view for view in views if view not in ("View", "view")]
        if len(views) < 25:
            self.faults.append(f"views: {views}")
        found = {json.loads(line)["view"]
                 for line in self.program("prof", "--json", "--view", ",".join(views), *traces).splitlines() if line}
        if "operators" not in found or "stacks" not in found:
            self.faults.append(f"rows of views: {sorted(found)}")
        page = self.folder / "page.html"
        self.program("report", "-o", page, *traces)
        if not page.exists() or page.stat().st_size < 10000:
            self.faults.append("report: no page")

    def check_kernels(self, trace):
        """Where a compiled kernel comes from: from the log of the compiler beside the trace."""
        layers = {row["op"]: row["layer"] or "" for row in self.rows("operators", trace, "--by", "layer")}
        stacks = {row["op"]: row["stack"] or "" for row in self.rows("operators", trace, "--by", "stack")}
        for kernel, layer in KERNELS.items():
            self.expect("+".join(sorted(layers.get(kernel, "").split(":")[-1].split("+"))), layer, f"layer of {kernel}")
            if "profiled_run.py:" not in stacks.get(kernel, ""):
                self.faults.append(f"stack of {kernel}: {stacks.get(kernel)}")

    def run(self):
        for turn in ("first", "second") if self.family == "inductor" else ("first",):
            folder = self.folder / turn
            folder.mkdir(parents=True)
            ranks = RANKS.get(self.family, 1)
            self.record(folder, ranks)
            for rank in range(ranks):
                counts = json.loads((folder / f"{rank}.counts.json").read_text(encoding="utf-8"))
                self.check_trace(folder / f"{rank}.json", counts)
                if counts["python"]:
                    self.check_trace(folder / f"{rank}.python.json", counts)
            self.check_all_views([folder / f"{rank}.json" for rank in range(ranks)])
            if self.family == "inductor":
                self.check_kernels(folder / "0.json")
        for fault in self.faults:
            print(fault)
        return 1 if self.faults else 0


def main():
    build, folder, family = sys.argv[1:]
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    if int(version.split(".")[0]) < 2:
        print(f"PyTorch {version}: torch.profiler of PyTorch 2 is asked for")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    found = Profiled(build, folder, family).run()
    if found == 0:
        shutil.rmtree(folder)  # Large.
    return found


if __name__ == "__main__":
    sys.exit(main())
