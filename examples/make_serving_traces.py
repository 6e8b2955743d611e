#!/usr/bin/env python3
"""Writes made-up traces of two ranks that serve a model: one prefill, then four decode steps.

    make_serving_traces.py FOLDER        FOLDER/rank0.json and FOLDER/rank1.json, as PyTorch's profiler has them

The times are invented. Each phase is a range (prefill_0, decode_0, ...) around one matrix product and one
all-reduce, which runs beside the product in the prefill and alone in the decode steps. Rank 1 begins its
collectives later, so that rank 0 waits.
"""
import json
import pathlib
import sys

PHASES = [("prefill_0", 512, 900)] + [(f"decode_{i}", 1, 60) for i in range(4)]
HIDDEN = 4096


def trace(rank):
    events = []
    correlation = 0

    def add(category, name, start_us, length_us, tid, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if tid == 7 or tid == 20 else 1000 + rank,
                       "tid": tid, "ts": start_us, "dur": length_us, "args": arguments})

    def launch(name, start_us, length_us, stream, external, host_us):
        nonlocal correlation
        correlation += 1
        add("cuda_runtime", "cudaLaunchKernel", host_us, 4, 1, correlation=correlation, **{"External id": external})
        add("kernel", name, start_us, length_us, stream, correlation=correlation, device=rank, context=1, stream=stream,
            grid=[128, 1, 1], block=[256, 1, 1], **{"External id": external})

    at = 1_000_000
    for number, (phase, rows, product_us) in enumerate(PHASES):
        host = at
        add("user_annotation", phase, host, product_us + 200, 1)
        add("cpu_op", "aten::mm", host + 10, 20, 1, **{
            "External id": 2 * number + 1, "Input Dims": [[rows, HIDDEN], [HIDDEN, HIDDEN]],
            "Input type": ["c10::BFloat16", "c10::BFloat16"]})
        launch("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", host + 40, product_us, 7,
               2 * number + 1, host + 15)
        add("cpu_op", "c10d::allreduce_", host + 40, 20, 1, **{
            "External id": 2 * number + 2, "Input Dims": [[[rows, HIDDEN]]], "Input type": ["TensorList"]})
        reduce_us = 60 + rows // 4
        # Beside the product in the prefill, behind it in the decode steps.
        begin = host + 40 + (product_us // 2 if phase.startswith("prefill") else product_us)
        late = 12 if rank == 1 else 0
        launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", begin + late,
               reduce_us - late, 20, 2 * number + 2, host + 45)
        at += product_us + 250
    return {
        "schemaVersion": 1,
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "deviceProperties": [{"id": i, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000,
                              "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
                              "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
                              "sharedMemPerBlock": 49152, "numSms": 132, "sharedMemPerMultiprocessor": 233472}
                             for i in range(2)],
        "traceEvents": events,
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(2):
        (folder / f"rank{rank}.json").write_text(json.dumps(trace(rank), indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
