"""A run in which all relations hold, and what breaks each of them."""
import base64
import copy
import json
import pathlib
import sys
import tempfile
import zlib

from consistency.relations import RELATIONS, check, holds
from consistency.run import EQUAL, EXCEPTIONS, PARTS, Run


def self_run():
    def step(number, total, host, parts, queued, busy):
        start_ns = None if number == "mean" else 1000 * int(number) - 1000
        row = {"rank": None, "step": number, "state": start_ns if start_ns is None else "steady", "start_ns": start_ns,
               "total_ns": total, "host_ns": host, **dict(zip(PARTS, parts)), "queued_ns": queued,
               "cold_ns": 0, "end_ns": 0}
        for part, ns in zip(PARTS, parts[:7]):
            row[part.replace("_ns", "_exposed_ns")] = ns
            row[part.replace("_ns", "_hidden_ns")] = 0
        return {**row, "busy_pct": busy, "mfu_pct": 40.0 if number == "mean" else None}

    def idle(number, window, whole, rows):
        rows = [("(all)", whole, whole // 200, 200)] + rows
        return [{"rank": None, "device": 0, "cause": cause, "idle_ns": ns, "share_pct": 100 * ns / whole,
                 "window_pct": 100 * ns / window, "gaps": gaps, "p50_ns": most // 2, "p95_ns": most, "max_ns": most,
                 **({} if number is None else {"step": number})} for cause, ns, gaps, most in rows]

    def rows_of(keys, *rows):
        return [dict(zip(keys.split(), row)) for row in rows]

    sentence = "the GPU waits for the host to launch its next work: 20.0 % of a step"
    tables = {
        "verdict": rows_of("rank verdict steps total_ns idle_pct cause time_ns share_pct call",
                           (None, sentence, 2, 2000, 30.0, "host", 400, 20.0, "cudaLaunchKernel")),
        "overview": [step("1", 1000, 900, (500, 50, 0, 50, 100, 0, 100, 200), 100, 60.0),
                     step("2", 1000, 700, (700, 0, 0, 100, 50, 100, 0, 50), 0, 80.0),
                     step("mean", 1000.0, 800.0, (600.0, 25.0, 0.0, 75.0, 75.0, 50.0, 50.0, 125.0), 50.0, 70.0)],
        "mfu": rows_of("rank counts name mfu_pct hfu_pct", (None, "products", "products that ran", 40.0, 45.0),
                       (None, "type", "bf16", 30.0, 35.0), (None, "type", "fp8", 10.0, 10.0)),
        "idle": idle(None, 2000, 600, [("launch", 150, 3, 100), ("python", 150, 2, 100), ("dataloader", 100, 1, 100),
                                  ("host-op", 100, 1, 100), ("queued", 100, 1, 100)]),
        "idle by step": idle(1, 1000, 400, [("launch", 100, 1, 100), ("python", 100, 1, 100), ("host-op", 100, 1, 100),
                                       ("queued", 100, 1, 100)])
        + idle(2, 1000, 200, [("dataloader", 100, 1, 100), ("launch", 50, 1, 50), ("python", 50, 1, 50)]),
        "idle by call,op": rows_of("rank device cause call op idle_ns", (None, 0, "(all)", None, None, 600),
                                   (None, 0, "launch", "cudaLaunchKernel", "mm", 100),
                                   (None, 0, "launch", "cudaLaunchKernel", "add", 50),
                                   (None, 0, "python", "exec", None, 150),
                                   (None, 0, "dataloader", None, None, 100), (None, 0, "host-op", "call", "mm", 100),
                                   (None, 0, "queued", "stream", "mm", 100)),
        "gaps": rows_of("rank device start_ns step gap_ns cause cause_ns", (None, 0, 100, 1, 200, "launch", 100),
                        (None, 0, 500, 1, 200, "host-op", 100), (None, 0, 1100, 2, 200, "dataloader", 100)),
        "gpu": rows_of("rank device window_ns busy_ns kernel_ns copy_ns comm_ns replay_ns",
                       (None, 0, 2000, 1350, 1200, 50, 150, 0)),
        "temporal": rows_of("rank idle_ns idle_pct compute_ns non_compute_ns kernel_ns",
                            (None, 600, 30.0, 1200, 200, 2000)),
        "temporal by step": rows_of("rank step idle_ns compute_ns non_compute_ns kernel_ns overlap_pct",
                                    (None, 1, 400, 500, 100, 1000, 0.0), (None, 2, 200, 700, 100, 1000, 0.0)),
        "kernel-types": rows_of("type sum_ns", ("COMPUTATION", 1200), ("COMMUNICATION", 150), ("MEMORY", 50)),
        "kernel-types by step": rows_of("rank step type sum_ns", (None, 1, "COMPUTATION", 500), (None, 1, "MEMORY", 50),
                                        (None, 1, "COMMUNICATION", 50), (None, 2, "COMPUTATION", 700),
                                        (None, 2, "COMMUNICATION", 100)),
        "critical-path": rows_of("rank step cause time_ns length_ns step_ns", (None, 1, "compute", 500, 1000, 1000),
                                 (None, 1, "python", 500, 1000, 1000), (None, 2, "compute", 700, 1000, 1000),
                                 (None, 2, "communication", 100, 1000, 1000), (None, 2, "dataloader", 100, 1000, 1000),
                                 (None, 2, "launch", 50, 1000, 1000), (None, 2, "host-op", 50, 1000, 1000)),
        "distributed": rows_of("rank step total_ns computation_ns overlap_ns communication_ns other_ns memory_ns "
                               "collectives latency_ns wait_ns transfer_ns unmatched_ns",
                               (None, "1", 1000, 500, 0, 50, 450, 50, 1, 50, None, None, 50),
                               (None, "2", 1000, 700, 0, 100, 200, 0, 1, 100, None, None, 100),
                               (None, "mean", 1000.0, 600.0, 0.0, 75.0, 325.0, 25.0, 1.0, 75.0, None, None, 75.0)),
        "collectives": rows_of("rank step latency_ns wait_ns exposed_ns", (None, 1, 50, None, 50),
                               (None, 2, 100, None, 100)),
        "ranks": rows_of("rank steps total_ns busy_ns compute_ns communication_ns busy_pct kernels kernel_ns",
                         (None, 2, 2000, 1400, 1200, 150, 70.0, 10, 1350)),
        "launches": rows_of("rank launches short_kernels runtime_outliers delay_outliers early_starts gpu_ns delay_ns "
                            "p50_delay_ns p95_delay_ns max_delay_ns graph_launches",
                            (None, 10, 2, 0, 0, 3, 1350, 90, 10, 30, 30, 0)),
        "launches by step": rows_of("rank step launches short_kernels delay_outliers early_starts gpu_ns delay_ns "
                                    "graph_launches", (None, 1, 5, 1, 0, 2, 550, 50, 0), (None, 2, 5, 1, 0, 1, 800, 40, 0)),
        "queue": rows_of("rank device stream min p25 p50 p75 max mean span_ns blocked_ns starved_ns",
                         (None, 0, 7, 0, 1, 2, 3, 9, 2.5, 1700, 0, 100)),
        "bandwidth": rows_of("rank device kind time_ns", (None, 0, "Memcpy HtoD", 50)),
        "groups": rows_of("kernel count total", ("gemm", 10, 1350)),
        "operators": rows_of("op device_self_ns", ("mm", 1400)),
        "places": rows_of("op time_ns", ("mm", 1400)),
        "advice": rows_of("id worst_rank gain_pct gain_ns estimate_pct", ("host-bound", None, 19.0, 190, 18.0),
                          ("dataloader", None, 5.0, 50, 5.0), ("exposed-communication", None, 7.5, 75, None),
                          ("blocking-calls", None, 1.0, 10, 0.5)),
    }
    screen = ["run.json", "", "The GPU waits for the host to launch its next work: 20.0 % of a step", "",
              "A step: median 1.00 us, mean 1.00 us (1.00 us to 1.00 us) of 2 steady steps",
              "  compute              60.0 %      600 ns  ###################################",
              "  communication alone   7.5 %       75 ns  ####", "  API calls             7.5 %       75 ns  ####",
              "  nothing recorded      7.5 %       75 ns  ####", "  others               17.5 %      175 ns  ##########",
              "  GPU 0: busy 70.0 %", "  Idle 30.0 %: launch 7.5 %, python or other code 7.5 %, dataloader 5.0 %"]
    page = {view: copy.deepcopy(tables[view]) for view in ("verdict", "overview")}
    return Run(tables, screen, page)


def plant(run, place, value):
    table, row, field = place
    if table == "screen":
        run.screen[row] = value
    elif table == "page":
        run.page[row[0]][row[1]][field] = value
    else:
        run.tables[table][row][field] = value


def self_test_page(page_of):
    """A page with one table, read back."""
    block = '<script type="application/{}" id="{}">{}</script>'

    def packed(name, value):
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        data = packer.compress(json.dumps(value).encode()) + packer.flush()
        return block.format("octet-stream", name, base64.b64encode(data).decode())

    views = [{"name": "verdict", "table": "c0", "fields": [1, 0]}, {"name": "idle", "table": "c1", "fields": [0]}]
    blocks = [block.format("json", "summary", json.dumps({"fields": "c2", "views": views})),
              packed("c0", {"columns": [{"v": [1, None]}, {"d": ["host"], "i": [-1, 0]}]}),
              packed("c2", [{"key": "cause"}, {"key": "steps"}])]
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        page.write_text("\n".join(blocks), encoding="utf-8")
        found = page_of(page, ("verdict", "overview"))
    if found != {"verdict": [{"steps": 1, "cause": None}, {"steps": None, "cause": "host"}]}:
        sys.exit(f"a page was not read: {found}")


def self_test(page_of):
    self_test_page(page_of)
    _, faults = check(self_run())
    if faults:
        sys.exit("contradictions in a run without any:\n" + "\n".join(faults))
    if unknown := {relation for _, relation in EXCEPTIONS} - {relation.name for relation in RELATIONS}:
        sys.exit(f"exceptions of no relation: {unknown}")
    for relation in RELATIONS:
        if not relation.planted:
            sys.exit(f"{relation.name}: nothing to plant")
        for planted in relation.planted:
            run = self_run()
            table, row, *field = planted[:-1]
            plant(run, (table, row, field[0] if field else None), planted[-1])
            if not check(run, [relation])[1]:
                sys.exit(f"{relation.name}: {planted} was not found")
    run = self_run()
    del run.tables["idle"]
    if any(check(run)[0][relation.name] for relation in RELATIONS if "idle" in relation.reads):
        sys.exit("a relation was checked without what it reads")
    if holds(None, EQUAL, 1) is not None or holds(1, EQUAL, 2) or not holds(0.1 + 0.2, EQUAL, 0.3):
        sys.exit("unknown, different or rounded figures are not told apart")
