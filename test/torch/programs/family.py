"""family.py BUILD FOLDER FAMILY PROGRAM..: runs a family of programs under the adaptor and the observers, and
writes into FOLDER what differs, a file of JSON a program: {"faults": [[FAULT, DETAILS], ..], "counts": {..}}.
The programs must be those that the family has. FAMILY "cxx" is the cases of torch_cases, each in a process of
its own; "prices" runs under `record`; "execution_F" is family F inside of emit_nvtx, beside the execution
trace.
"""
import argparse
import collections
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import compare
import executed
import priced
import recorded

HERE = pathlib.Path(__file__).resolve().parent
OF_VERSION_2 = {"precision", "attending", "optimizing", "higher_order", "extending", "compiled", "sharded", "models",
                "low_bits"}
NEEDS = {"models": "transformers", "low_bits": "torchao"}  # Beside PyTorch.
UNTRACED = {"untraced"}  # Families without PyTorch's execution trace beside them.
COLUMNS = "kernel,op,dir,phase,layer,reason"


class Run:
    def __init__(self, build, folder, family, programs, tool):
        self.build, self.folder = pathlib.Path(build).resolve(), pathlib.Path(folder).resolve()
        self.family, self.programs = family, programs
        self.version = version_of_torch()
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("OPLENS_", "NVTX_", "LD_PRELOAD"))}
        self.environment.update(
            OMP_NUM_THREADS="1", PYTHONPATH=str(self.build / "lib"), PYTHONDONTWRITEBYTECODE="1",
            # What torch.compile makes stays for the next time.
            TORCHINDUCTOR_CACHE_DIR=str(self.build / "inductor"),
            OPLENS_PROGRAMS_EXTENSION=str(self.build / "lib/libprograms_extension.so"),
            OPLENS_PROGRAMS_OBSERVER=str(self.build / "lib/libprograms_observer.so"),
            OPLENS_TEST_RECORDER=tool, OPLENS_PROGRAMS_NAMES=str(self.folder / "names.json"),
            OPLENS_PROGRAMS_FLOPS=str(self.folder / "flops.json"))
        self.python = [sys.executable, "-m", "oplens_annotate", "run.py", family.replace("execution_", "")]

    def observed(self, command, **more):
        recorder = str(self.build / "lib/liboplens_test_recorder.so")
        self.run(command, NVTX_INJECTION64_PATH=recorder, OPLENS_PROGRAMS_RECORDER=recorder,
                 OPLENS_TEST_RECORDER_OUT=str(self.folder / "run.%p.nvtx"),
                 OPLENS_PROGRAMS_OBSERVED=str(self.folder / "observed.%p.jsonl"), **more)

    def run(self, command, **more):
        finished = subprocess.run(command, cwd=HERE, env={**self.environment, **more}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace")
        if finished.returncode != 0:
            sys.exit(f"{' '.join(command)}: {finished.returncode}\n{finished.stdout}")

    def compare(self):
        rows = {}
        for capture in self.folder.glob("run.*.nvtx"):
            ranges, database = capture.with_suffix(".ranges"), capture.with_suffix(".sql")
            self.run([str(self.build / "bin/programs_ranges"), str(capture), str(ranges), str(database)])
            rows[int(capture.name.split(".")[1])] = priced.rows_of(self.build, database, COLUMNS)
        family = recorded.Family(self.folder)
        found = {call.program for process in family.processes for call in process.calls.values()} - {""}
        if found != set(self.programs):
            sys.exit(f"the programs are {sorted(found)}, not {sorted(self.programs)}")
        priced_wrong = self.compare_flops(family)
        for program in self.programs:
            faults, counts = [], collections.Counter()
            for process in family.processes:
                one = compare.Comparison(family, process, program)
                one.run()
                if one.calls:
                    one.compare_rows(rows.get(process.pid, []))
                    one.compare_graph(family)
                faults += one.faults
                counts += one.count
            self.write(program, faults + priced_wrong.get(program, []), counts)
        self.clean()

    def compare_flops(self, family):
        """Program -> faults, where programs have told the FLOPs of their products."""
        told = self.folder / "flops.json"
        if not told.exists():
            return {}
        process, = family.processes
        database = self.folder / "run.products.sql"
        self.run([str(self.build / "bin/programs_ranges"), "--products",
                  str(self.folder / f"run.{process.pid}.nvtx"), str(database)])
        return priced.compare_products(json.loads(told.read_text(encoding="utf-8")), process,
                                       priced.rows_of(self.build, database, "kernel,op,params,flops"))

    def clean(self):
        for path in [*self.folder.glob("run.*"), *self.folder.glob("observed.*"), *self.folder.glob("graph.observed.json")]:
            if "OPLENS_PROGRAMS_KEEP" not in os.environ:
                path.unlink()

    def write(self, program, faults, counts):
        result = {"faults": [[fault, str(details)] for fault, details in faults], "counts": counts,
                  "version": self.version}
        (self.folder / f"{program}.json").write_text(json.dumps(result), encoding="utf-8")


def run_python(run):
    traced = {} if run.family in UNTRACED else {"OPLENS_PROGRAMS_GRAPH": str(run.folder / "graph.observed.json")}
    run.observed(run.python, **traced)
    run.compare()


def run_execution(run):
    trace = run.folder / "graph.observed.json"
    run.observed(run.python, OPLENS_PROGRAMS_GRAPH=str(trace),
                 OPLENS_PROGRAMS_EMIT=str(run.build / "lib/libprograms_emit_nvtx.so"))
    process = max(recorded.Family(run.folder).processes, key=lambda process: len(process.calls))
    capture = run.folder / f"run.{process.pid}.nvtx"
    marked, emitted = run.folder / "run.marked.sql", run.folder / "run.emitted.sql"
    run.run([str(run.build / "bin/programs_ranges"), "--split", str(capture), str(marked), str(emitted)])
    results = executed.compare(run.build, marked, emitted, trace, process)
    for program in run.programs:
        run.write(program, *results[program])
    run.clean()


def run_cxx(run):
    for program in run.programs:
        run.observed([str(run.build / "bin/torch_cases"), program.replace("_", "-")],
                     LD_PRELOAD=str(run.build / "lib/libprograms_observer.so"), OPLENS_PROGRAMS_PROGRAM=program)
    run.compare()


def run_prices(run):
    recording = run.folder / "prices.sql"
    run.run([str(run.build / "bin/record"), "-q", "-f", "-o", str(recording), "--", *run.python])
    results = priced.price(run.build, recording)
    if set(results) != set(run.programs):
        sys.exit(f"the programs are {sorted(results)}, not {sorted(run.programs)}")
    for program, faults in results.items():
        run.write(program, faults, {"price": 1})


def version_of_torch():
    """"" where Python has none."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="payload", help="what the test recorder is: payload or text")
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("family")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    pathlib.Path(options.folder).mkdir(parents=True)
    if options.family != "cxx" and importlib.util.find_spec("torch") is None:
        (pathlib.Path(options.folder) / "skipped").write_text("Python has no PyTorch", encoding="utf-8")
        sys.exit(77)
    needed = NEEDS.get(options.family)
    if needed and importlib.util.find_spec(needed) is None:
        (pathlib.Path(options.folder) / "skipped").write_text(f"Python has no {needed}", encoding="utf-8")
        sys.exit(77)
    if options.family in OF_VERSION_2 and version_of_torch().split(".")[0] < "2":
        (pathlib.Path(options.folder) / "skipped").write_text(
            f"needs PyTorch 2, this is {version_of_torch()}", encoding="utf-8")
        sys.exit(77)
    run = Run(options.build, options.folder, options.family, options.programs, options.tool)
    if options.family.startswith("execution_"):
        run_execution(run)
    else:
        {"cxx": run_cxx, "prices": run_prices}.get(options.family, run_python)(run)


if __name__ == "__main__":
    main()
