#!/usr/bin/env python3
"""Hides the ops and layers of real profiles and checks what prof then says of kernels by their names
and their order.

Of each profile with recorded ops the ranges and operators are removed (calls of the API and kernels
stay), and the kind of op that prof names must be that of the recorded op of the same kernel; a block
that it numbers must be the layer of that number, and its part (attention, MLP) the right one. Prints a
line a profile: share of the time with a recorded op that is named, and of that the share that is
right; with --verbose what is wrong. Exits with 1 where a limit is broken.

  blind_names.py --bin build/release/bin [--said 0] [--right 98] [--layers-right 90] [--verbose] PROFILE...
"""
import argparse
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

KEPT = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "Kernel", "Memcpy", "Memset",
        "Runtime"}
NAMED_TABLES = ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_MARKER")

# Kinds of ops: what one kernel may serve by its name. The first pattern decides.
KINDS = [(kind, re.compile(pattern)) for kind, pattern in (
    ("norm", r"norm(?!al_)(?!_except)|^var$"),
    ("resize", r"interpolate|upsample"),
    ("convolution", r"conv"),
    ("attention", r"attention|attn|mha_|flash_"),
    ("product", r"^(mm|addmm|bmm|baddbmm|matmul|linear|dot|mv|addmv|scaled_mm|einsum|grouped_mm|gemm.*|"
                r"multi_head_attention_forward|.*_gemm.*)$"),
    ("softmax", r"softmax|cross_entropy"),
    ("loss", r"nll|mse|huber|smooth_l1|binary_cross"),
    ("dropout", r"dropout|masked_scale"),
    ("threshold", r"^(relu|threshold|threshold_backward|clamp|clamp_min|clamp_max|hardtanh|maximum|minimum)$"),
    ("comparison", r"^(eq|ne|gt|ge|lt|le|comparison|equal)$"),
    ("pool", r"pool"),
    ("cat", r"^(cat|stack)$"),
    # A difference runs the kernel of a sum, a quotient by a number that of a product.
    ("where", r"where"),
    ("pow", r"^(pow|square)$"),
    ("add", r"^(add|sub|rsub|__iadd__|__add__|__sub__|__rsub__|add_|iadd)$|foreach_(add|sub)"),
    ("mul", r"^(mul|div|__mul__|__truediv__|__rmul__|__imul__)$|foreach_(mul|div)"),
    ("fill", r"^(fill|zero|zeros|zeros_like|ones_like|full|full_like|masked_fill|ones|new_zeros)$"),
    ("cast", r"^(copy|contiguous|clone|to|_to_copy|repeat|repeat_interleave|chunk|reshape|expand|type_as|half|float)$|foreach_copy"),
    ("index", r"^(index|index_select|gather|embedding|take|index_put_impl|scatter|scatter_add|index_add|index_copy|"
              r"embedding_dense_backward|index_fill)$"),
    ("embedding table", r"SplitLookup|split_embedding|dense_embedding"),
    ("reduce_scatter", r"reduce_?scatter"),
    ("all_gather", r"all_?gather"),
    ("all_reduce", r"all_?reduce"),
    ("all_to_all", r"all_?to_?all|send_recv"),
    ("cache", r"cache"),
    ("rotary", r"rotary|rope"),
    ("quantise", r"(?i)quant|hfp8|fp8"),
    ("select", r"nonzero|masked_select"),
    ("sum", r"^(sum|nansum)$"),
    ("scan", r"cumsum"),
    ("repeat_interleave", r"repeat_interleave"),
)]

# Ops that run many kinds of kernels: a kernel's own kind does not contradict them.
COMPOSITE = re.compile(r"moe|SplitLookup|embedding_codegen|permute_|to_dense|lengths_range|recat|jagged|"
                       r"^forward_batch|sample|topk|sort|unique|nms|chunk|evaluate_function|CompiledF|"
                       r"Torch-Compiled|cuda_graph|execute_|nonzero|index_put")

# Kernels beside the main one of an op, which are what their names say.
BESIDE = {"copy_", "add", "mul", "fill_", "sum", "reduction", "elementwise"}


def kind_of(op):
    op = re.sub(r"^(aten|c10d|nccl|_C|fbgemm|vllm|sgl_kernel|at)::?:?", "", op)
    op = re.sub(r"^_+|_+$", "", op) if not op.startswith("__") else op
    for kind, pattern in KINDS:
        if pattern.search(op):
            return kind
    return op


def is_right(said, row):
    recorded = row["op"]
    if row["role"] in ("helper", "layout", "reduce", "epilogue") and said in BESIDE:
        return True
    # A collective made of sends.
    if said == "send_recv" and kind_of(recorded) in ("all_reduce", "all_gather", "reduce_scatter"):
        return True
    if said == recorded or kind_of(said) == kind_of(recorded) or COMPOSITE.search(recorded):
        return True
    # Early kernels of Inductor have no names, only what they are like.
    generated = {"elementwise": "triton_poi", "reduction": ("triton_red", "triton_per"), "mm": "triton_tem"}
    return said in generated and recorded.startswith(generated[said])


LAYER = re.compile(r"(?:layers?|blocks?|Layer|Block)[._](\d+)$")
ATTENTION_PARTS = {"norm", "qkv", "qk_norm", "rope", "attention", "o"}


def recorded_place(layers):
    """The number of the outermost repeated layer and whether a kernel is in its attention (True), its
    MLP (False) or neither (None); None without such a layer."""
    for i, name in enumerate(layers or []):
        found = LAYER.search(name)
        if found:
            inside = " ".join(layers[i + 1:])
            if re.search(r"(?i)attention|attn", inside):
                return int(found.group(1)), True
            return int(found.group(1)), False if re.search(r"(?i)mlp|intermediate|output|moe|ffn", inside) else None
    return None


def layer_is_right(said, place):
    number, attention = place
    if said[0] != f"block[{number}]":
        return False
    return attention is None or said[1] in ("norm", "norm2") or (said[1] in ATTENTION_PARTS) == attention


def hide(path, to):
    data = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
    if not data.startswith(b"SQLite"):
        trace = json.loads(data.decode("utf-8", "replace"), strict=False)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        kept = [e for e in events if e.get("cat") in KEPT or e.get("ph") == "M"]
        for event in kept:
            for key in ("External id", "external id", "kernel_backend", "kernel_file", "kernel_hash"):
                event.get("args", {}).pop(key, None)
        with open(to, "w") as file:
            json.dump(dict(trace, traceEvents=kept) if isinstance(trace, dict) else kept, file)
        return
    with open(to, "wb") as file:
        file.write(data)
    with sqlite3.connect(to) as base:
        tables = {row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in NAMED_TABLES:
            if table in tables:
                base.execute(f"DELETE FROM {table}")


def rows(args, path):
    command = [os.path.join(args.bin, "prof"), "--quiet", "--json", "-c", "op,evidence,kernel,sil,start,role,layer,layer_evidence", path]
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()
    return sorted(map(json.loads, found), key=lambda row: (row["start"], row["kernel"] or "", row["sil"] or 0))


def check(args, path):
    truth = rows(args, path)
    if not any(row["op"] and row["evidence"] != "name" for row in truth):
        print(f"{path}: no recorded ops")
        return True
    with tempfile.TemporaryDirectory(dir=args.tmp) as folder:
        hidden = os.path.join(folder, os.path.basename(path).removesuffix(".gz"))
        hide(path, hidden)
        found = rows(args, hidden)
    if [row["kernel"] for row in truth] != [row["kernel"] for row in found]:
        sys.exit(f"{path}: the kernels do not match")
    total = said = right = placed = placed_right = 0
    wrong = {}
    for a, b in zip(truth, found):
        if b["layer_evidence"] == "order" and any(LAYER.search(row) for row in a["layer"] or []):
            placed += a["sil"]
            place = recorded_place(a["layer"])
            if layer_is_right(b["layer"], place):
                placed_right += a["sil"]
            else:
                key = (":".join(a["layer"])[-50:], ":".join(b["layer"]), (a["kernel"] or "")[:40])
                wrong[key] = wrong.get(key, 0) + a["sil"]
        if not a["op"] or a["evidence"] == "name" or not a["sil"]:
            continue
        total += a["sil"]
        if b["evidence"] != "name":
            continue
        said += a["sil"]
        if is_right(b["op"], a):
            right += a["sil"]
        else:
            key = (a["op"], b["op"], (a["kernel"] or "")[:60])
            wrong[key] = wrong.get(key, 0) + a["sil"]
    share = lambda part, whole: 100.0 * part / whole if whole else 100.0
    layers = f"; in a block {share(placed, total):.2f} %, of that right {share(placed_right, placed):.2f} %"
    print(f"{path}: recorded {total} ns, named {share(said, total):.2f} %, of that right {share(right, said):.2f} %"
          f"{layers if placed else ''}")
    if args.verbose:
        for key, ns in sorted(wrong.items(), key=lambda item: -item[1])[:8]:
            print(f"    {share(ns, said):.2f} % {key}")
    return (share(said, total) >= args.said and share(right, said) >= args.right
            and share(placed_right, placed) >= args.layers_right)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--tmp", default=None)
    parser.add_argument("--said", type=float, default=0)
    parser.add_argument("--right", type=float, default=98)
    parser.add_argument("--layers-right", type=float, default=90)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("profile", nargs="+")
    args = parser.parse_args()
    good = [check(args, path) for path in args.profile]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
