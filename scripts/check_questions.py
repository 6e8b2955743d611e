#!/usr/bin/env python3
"""Asks `oplens mcp` twenty questions of an optimisation session, and compares the answers with figures
computed apart.

    check_questions.py --bin DIR [--corpus DIR] [--tokens] [QUESTION...]

Each question is the calls that a competent agent makes, on a real profile of the corpus
(OPLENS_CORPUS_DIR unless it is given; without either the exit code is 77). What must come back is
computed here from the file itself, with nothing of the programs. A question may take 1,500 tokens an
answer and 4,000 in all, by the rule of mcp/answers/tokens.h; --tokens prints them.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import check_tasks as raw

MOST_OF_ANSWER = 1500
MOST_OF_QUESTION = 4000


def tokens_of(text):
    """As mcp/answers/tokens.h counts them."""
    count = 0
    for found in re.finditer(r"[A-Z]+[a-z]*|[a-z]+|[0-9]| +(?=([0-9])?)|[\n\r\t]|[!-/:-@\[-`{-~]+|.", text, re.S):
        part = found[0]
        if part[0].isascii() and part[0].isalpha():
            count += (len(part) + 3) // 4
        elif part[0] == " ":
            count += len(part) > 1 or found[1] is not None
        elif re.fullmatch(r"[!-/:-@\[-`{-~]+|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", part):
            count += (len(part) + 1) // 2
        else:
            count += len(part.encode())
    return count


class Client:
    """A connection to a server of its own."""

    def __init__(self, bin_dir, *roots):
        words = [bin_dir / "oplens", "mcp"]
        for root in roots:
            words += ["--root", str(root)]
        self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "check", "version": "0"}})

    def request(self, method, params):
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()
        reply = json.loads(self.server.stdout.readline())
        assert reply["id"] == self.last, reply
        if "error" in reply:
            raise AssertionError(reply["error"]["message"])
        return reply["result"]

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=60)


class Session(raw.Task):
    """A question: calls of tools, whose tokens are counted."""

    def __init__(self, client, bin_dir, corpus, work):
        super().__init__(bin_dir, corpus, work)
        self.client = client
        self.tokens = 0
        self.answer = 0

    def ask(self, tool, path, **arguments):
        """The structured answer, with its rows as dictionaries."""
        arguments = {"path": path, **arguments}
        result = self.client.request("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        if result["isError"]:
            raise AssertionError(f"{tool} {arguments}: {text}")
        structured = result["structuredContent"]
        spent = max(tokens_of(text), tokens_of(json.dumps(structured, separators=(",", ":"))))
        self.answer = max(self.answer, spent)
        self.tokens += spent + tokens_of(json.dumps({"name": tool, "arguments": arguments}))
        evidence = structured["evidence"]
        for key in ("command", "file", "hash", "basis"):
            if not evidence.get(key):
                raise AssertionError(f"{tool} {arguments}: no {key}")
        structured["table"] = [dict(zip(structured["columns"], row)) for row in structured["rows"]]
        return structured

    def view(self, path, name, **arguments):
        return self.ask("view", path, name=name, **arguments)["table"]

    def kernels(self, name):
        return [event for event in self.events(name) if raw.is_kernel(event)]


def close(found, wanted, what, tolerance=1e-5):
    raw.same(found, wanted, what, tolerance)


def equal(found, wanted, what):
    if found != wanted or not wanted:
        raise AssertionError(f"{what}: answered {found}, computed {wanted}")


DLRM = "kineto/dlrm_w8/rank1.json.gz"
LM = "nvprof/lm.sql.gz"
EAGER = "kineto/sam_amg/before_eager.json.gz"
COMPILED = "kineto/sam_amg/compiled_triton.json.gz"
PAIR = "kineto/linear_tp2"
MEMORY = "kineto/mi300/bert_small.json.gz"
LLAMA = "nsys/llama_stream.sqlite.gz"
LM27B = "nsys/lm27b_nvtx.sqlite.gz"


def what_is_it(q):
    """1: what is this file: how many kernels, how long they take?"""
    facts = q.ask("open", raw.TIMESFORMER)["table"]
    (row,) = [row for row in facts if row["what"] == "kernels"]
    kernels = q.kernels(raw.TIMESFORMER)
    equal(row["name"], str(len(kernels)), "kernels")
    close(row["time_ns"], sum(map(raw.length, kernels)), "time")


def which_op_first(q):
    """2: which op first? The calls of addmm take this long."""
    table = q.view(raw.VIT, "groups", by="op", columns="op,count,total,share")
    times = collections.Counter()
    events = q.events(raw.VIT)
    names = ("aten::addmm", "aten::bmm", "aten::native_layer_norm", "aten::gelu")
    calls = [e for e in events if e["name"] in names]
    for kernel, around in raw.launched_inside(events, calls):
        if around:
            times[around[-1]["name"].removeprefix("aten::")] += raw.length(kernel)
    (largest, time), = times.most_common(1)
    equal(table[0]["op"], largest, "op")
    close(table[0]["total"], time, "its time")


def costliest_layer(q):
    """3: which layer takes most time?"""
    events = q.events(raw.TIMESFORMER)
    modules = [e for e in events if e["name"].startswith("nn.Module: ")]
    times = collections.Counter()
    for kernel, around in raw.launched_inside(events, modules):
        innermost = max(around, key=lambda e: e["start"], default=None)
        times[innermost["name"].removeprefix("nn.Module: ") if innermost else "-"] += raw.length(kernel)
    ((layer, time),) = times.most_common(1)
    row = q.view(raw.TIMESFORMER, "groups", by="layer", columns="layer,total", top=5)[0]
    equal(row["layer"].split(":")[-1], layer, "layer")
    close(row["total"], time, "its time")


def why_idle(q):
    """4: before which op does the GPU wait, and how long before addmm?"""
    events = q.events(raw.VIT)
    products = [e for e in events if e["name"] == "aten::addmm"]
    starts = {kernel["start"] for kernel, around in raw.launched_inside(events, products) if around}
    computed = sum(end - start for start, end in raw.gaps_of_gpu(events) if end in starts)
    table = q.view(raw.VIT, "idle", by="op_after", columns="op_after,idle_ns", where="op_after=addmm")
    equal([row["idle_ns"] for row in table], [computed], "idle before addmm")


def launch_bound(q):
    """5: is it launch-bound: what of the steps is the GPU idle?"""
    q.ask("open", raw.DDP, max_tokens=800)
    row = q.view(raw.DDP, "idle", columns="cause,idle_ns,window_pct")[0]
    events = q.events(raw.DDP)
    steps = [e for e in events if e["name"].startswith("ProfilerStep#") and e["cat"] == "user_annotation"]
    start, end = min(e["start"] for e in steps), max(e["end"] for e in steps)
    busy = raw.union((max(e["start"], start), min(e["end"], end)) for e in raw.work_of_gpu(events))
    # The steps as they are on the device: a launch after the end of the host's may be of it.
    close(row["window_pct"], 100 - 100 * raw.total(busy) / (end - start), "idle share", 0.02)


def sgemm_ns(q):
    """{grid: time} of the products of fp32 on CUDA cores."""
    kernel = "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
    rows = q.database(LM).execute(
        f"SELECT k.gridX, k.gridY, k.gridZ, SUM(k.end - k.start) FROM {kernel} k JOIN StringTable s ON "
        "s._id_ = k.name WHERE s.value LIKE '%sgemm%' GROUP BY 1, 2, 3")
    return {(x, y, z): time for x, y, z, time in rows}


def off_tensor_cores(q):
    """6: which products miss Tensor Cores, and why?"""
    by_grid = sgemm_ns(q)
    table = q.view(LM, "groups", by="kernel,grid", where="tc=0 and kernel~sgemm", columns="kernel,grid,total")
    times = collections.Counter()
    for row in table:
        times[tuple(map(int, re.findall(r"\d+", str(row["grid"]))))] += row["total"]
    equal(dict(times), by_grid, "time by grid")
    why = q.view(LM, "kernels", where="kernel~sgemm", columns="kernel,dtype,tc,tc_why", sort="sil", top=1)[0]
    equal((why["tc"], why["dtype"]), (0, "fp32"), "why")


def what_would_16_bits_change(q):
    """7: what would 16 bits change: how long are products of fp32, which bounds what they can save?"""
    products = sum(sgemm_ns(q).values())
    (row,) = q.view(LM, "groups", by="dtype", where="tc=0 and tc_elig!=- and kernel~gemm", columns="dtype,total")
    equal((row["dtype"], row["total"]), ("fp32", products), "time of products of fp32")
    advice = q.view(LM, "advice", columns="id,item,change,gain_ns")
    (row,) = [row for row in advice if row["id"] == "mixed-precision"]
    if not 0 < row["gain_ns"] < products or "float16" not in row["change"]:
        raise AssertionError(f"answered {row}, computed less than {products}")


def how_much_backward(q):
    """8: how much of the time is the backward pass?"""
    events = q.events(raw.BACKWARD)
    nodes = [e for e in events if e["name"].startswith("autograd::engine::evaluate_function")]
    times = collections.Counter()
    for kernel, around in raw.launched_inside(events, nodes):
        times[bool(around)] += raw.length(kernel)
    table = q.view(raw.BACKWARD, "groups", by="dir", columns="dir,total,share")
    (row,) = [row for row in table if row["dir"] == "bprop"]
    close(row["total"], times[True], "time of bprop")
    close(row["share"], 100 * times[True] / times.total(), "share of bprop")


def what_changed(q):
    """9: what changed between two commits: how many kernels are there, how long are they on average?"""
    answer = q.ask("diff", COMPILED, base=EAGER, name="groups", by="device")
    (row,) = [row for row in answer["table"] if row["what"] == "groups"]
    for side, name in (("base", EAGER), ("new", COMPILED)):
        kernels = q.kernels(name)
        close(row[side], sum(map(raw.length, kernels)) / len(kernels), f"mean of {side}")


def which_layer_changed(q):
    """10: how long does one layer take on an H100, and on an MI300X?"""
    layer = "TimesformerLayer_3"
    for name in (raw.TIMESFORMER, raw.TIMESFORMER_OF_AMD):
        events = q.events(name)
        modules = [e for e in events if e["name"].startswith("nn.Module: ")]
        own = sum(raw.length(kernel) for kernel, around in raw.launched_inside(events, modules)
                  if around and max(around, key=lambda e: e["start"])["name"].endswith(f" {layer}"))
        (row,) = q.view(name, "modules", where=f"path~{layer}$", columns="path,device_self_ns,device_total_ns")
        equal(row["device_self_ns"], own, "time of the layer's own kernels")


def which_rank_is_late(q):
    """11: which rank is late, and how long does the other wait?"""
    times = {}
    for rank in (0, 1):
        kernels = q.kernels(f"{PAIR}/rank{rank}.json.gz")
        (kernel,) = [e for e in kernels if e["name"].startswith("nccl")]
        # What runs beside it does not count.
        others = [[e["start"], e["end"]] for e in kernels if e is not kernel]
        times[str(rank)] = raw.total(raw.without([[kernel["start"], kernel["end"]]], raw.union(others)))
    waits = {rank: time - min(times.values()) for rank, time in times.items()}
    table = q.view(PAIR, "distributed", columns="rank,step,wait_ns,communication_ns")
    found = {str(row["rank"]): row["wait_ns"] for row in table if row["step"] != "mean"}
    equal(found, waits, "waits")


def time_of_ranks(q):
    """12: how long do the kernels of each rank take?"""
    folder = "kineto/ddp_sampled_w128"
    names = sorted(path.name for path in (q.corpus / folder).iterdir())
    computed = sorted(sum(map(raw.length, q.kernels(f"{folder}/{name}"))) for name in names)
    table = q.view(folder, "groups", by="rank", columns="rank,total")
    equal(sorted(row["total"] for row in table), computed, "time by rank")


def memory_of_operators(q):
    """13: which operators took memory of the GPU, and how much in all?"""
    with raw.gzip.open(q.corpus / MEMORY) as file:
        events = json.load(file)["traceEvents"]
    taken = [e["args"]["Bytes"] for e in events if e.get("name") == "[memory]"
             and e["args"]["Device Type"] != 0 and e["args"]["Bytes"] > 0]
    answer = q.ask("view", MEMORY, name="memory-ops", columns="op,self_allocations,self_allocated_bytes",
                   where="device=GPU0")
    if "more" in answer:
        raise AssertionError("rows are missing")
    equal(sum(row["self_allocated_bytes"] or 0 for row in answer["table"]), sum(taken), "allocated bytes")
    equal(sum(row["self_allocations"] or 0 for row in answer["table"]), len(taken), "allocations")


def good_enough(q):
    """14: is this recording good enough to judge: what was lost?"""
    events = q.events(DLRM)
    launches = raw.launches_of(events)
    lost = [e for e in events if raw.is_kernel(e) and e["args"]["correlation"] not in launches]
    (row,) = q.view(DLRM, "losses", columns="loss,count,time_ns,share_pct,mend")
    equal(row["count"], len(lost), "kernels without a launch")
    equal(row["time_ns"], sum(map(raw.length, lost)), "their time")


def tensor_core_share(q):
    """15: what of the time do kernels use Tensor Cores?"""
    kernels = q.kernels(raw.TIMESFORMER)
    on = sum(raw.length(e) for e in kernels if re.search("tensorop|xmma_gemm|gmma|nvjet", e["name"]))
    (row,) = q.view(raw.TIMESFORMER, "groups", by="device", columns="device,total,tc,tc_known")
    close(row["tc"], 100 * on / sum(map(raw.length, kernels)), "share of Tensor Cores")


def batched_products(q):
    """16: which shapes do the batched products have, and how long do they take?"""
    events = q.events(raw.TIMESFORMER)
    calls = [e for e in events if e["name"] == "aten::bmm"]
    times = collections.Counter()
    for kernel, around in raw.launched_inside(events, calls):
        if around:
            a, b = around[-1]["args"]["Input Dims"][:2]
            times[b[-1], a[-2], a[-1], a[0]] += raw.length(kernel)
    table = q.view(raw.TIMESFORMER, "gemms", where="op=bmm", columns="op,m,n,k,batch,time_ns,tflops")
    found = collections.Counter()
    for row in table:
        found[row["m"], row["n"], row["k"], row["batch"]] += row["time_ns"]
    equal(dict(found), dict(times), "time by sizes")


def copies(q):
    """17: how fast are copies to the device?"""
    ((size, time),) = q.database(LLAMA).execute(
        "SELECT SUM(bytes), SUM(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1")
    table = q.view(LLAMA, "bandwidth", columns="kind,bytes,time_ns,mean_gbps")
    (row,) = [row for row in table if row["kind"] == "Memcpy HtoD"]
    equal((row["bytes"], row["time_ns"]), (size, time), "bytes and time")
    close(row["mean_gbps"], size / time, "GB/s")


def exposed_communication(q):
    """18: how long does the GPU only communicate?"""
    kernels = q.kernels(raw.DDP)
    nccl = raw.union((e["start"], e["end"]) for e in kernels if e["name"].startswith("nccl"))
    other = raw.union((e["start"], e["end"]) for e in kernels if not e["name"].startswith("nccl"))
    table = q.view(raw.DDP, "distributed", columns="step,communication_ns,overlap_ns")
    steps = [row for row in table if row["step"] != "mean"]
    close(sum(row["communication_ns"] for row in steps), raw.total(raw.without(nccl, other)), "exposed")


def idle_inside_calls(q):
    """19: in which API calls is the host while the GPU is idle?"""
    events = q.events(raw.VIT)
    computed = collections.Counter()
    for call in events:
        if call.get("cat") in ("cuda_runtime", "cuda_driver"):
            computed[call["name"]] += sum(max(0, min(end, call["end"]) - max(start, call["start"]))
                                          for start, end in raw.gaps_of_gpu(events))
    table = q.ask("sql", raw.VIT, query=(
        "SELECT a.name, SUM(MIN(g.end_ns, a.end_ns) - MAX(g.start_ns, a.start_ns)) AS idle_ns FROM gpu_gaps g "
        "JOIN api_calls a ON a.run = g.run AND a.start_ns < g.end_ns AND a.end_ns > g.start_ns "
        "GROUP BY a.name ORDER BY 2 DESC"))["table"]
    equal({row["name"]: row["idle_ns"] for row in table if row["idle_ns"]},
          {name: idle for name, idle in computed.items() if idle}, "idle time by call")


def longest_kernel(q):
    """20: which kernel runs longest, and what is known of it?"""
    longest = max(map(raw.length, q.kernels(raw.TIMESFORMER)))
    alike = [e for e in q.kernels(raw.TIMESFORMER) if raw.length(e) == longest]
    (row,) = q.view(raw.TIMESFORMER, "kernels", sort="sil", top=1)
    facts = {row["fact"]: row["value"] for row in q.ask("kernel", raw.TIMESFORMER, key=row["key"])["table"]}
    equal(facts["sil"], longest, "time")
    found = (facts["corr"], facts["stream"], facts["grid"])
    computed = [(e["args"]["correlation"], e["args"]["stream"], "x".join(map(str, e["args"]["grid"])))
                for e in alike]
    if (found[0], found[1]) not in [one[:2] for one in computed]:
        raise AssertionError(f"answered {found}, computed {computed}")


QUESTIONS = {function.__name__: function for function in (
    what_is_it, which_op_first, costliest_layer, why_idle, launch_bound, off_tensor_cores,
    what_would_16_bits_change, how_much_backward, what_changed, which_layer_changed, which_rank_is_late,
    time_of_ranks, memory_of_operators, good_enough, tensor_core_share, batched_products, copies,
    exposed_communication, idle_inside_calls, longest_kernel)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--tokens", action="store_true", help="print the tokens of each question")
    parser.add_argument("questions", nargs="*", help="one of " + ", ".join(QUESTIONS))
    given = parser.parse_args()
    corpus = given.corpus or os.environ.get("OPLENS_CORPUS_DIR")
    if not corpus:
        print("skipped: OPLENS_CORPUS_DIR is not set")
        return 77
    faults = 0
    client = Client(given.bin, corpus)
    spent = []
    with tempfile.TemporaryDirectory() as work:
        for name in given.questions or QUESTIONS:
            q = Session(client, given.bin, pathlib.Path(corpus), pathlib.Path(work))
            try:
                QUESTIONS[name](q)
                if q.answer > MOST_OF_ANSWER or q.tokens > MOST_OF_QUESTION:
                    raise AssertionError(f"{q.answer} tokens an answer, {q.tokens} in all")
                verdict = "ok   "
            except (AssertionError, KeyError, ValueError, TypeError) as fault:
                faults += 1
                verdict = f"FAULT {type(fault).__name__} {str(fault)[:400]}:"
            spent.append(q.tokens)
            print(f"{verdict} {name}" + (f": {q.tokens} tokens" if given.tokens else ""))
    client.close()
    print(f"{len(spent) - faults} of {len(spent)} right, {sum(spent)} tokens")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
