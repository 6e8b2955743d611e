#!/usr/bin/env bash
# bench/annotate.sh BUILD: what a range of nvtx_annotate costs, as a ratio to the bare NVTX push/pop
# pair of the same run: without a tool, with one that takes texts, with one that takes payloads, on
# one thread and on 16 (CPU time). Medians of five runs each.
#
# Goals: an op of three tensors costs at most 12 pairs without a tool (a fraction of a nanosecond
# each), 5 with texts, 1.5 with payloads; on 16 threads at most 1.3 of what it costs on one.
set -euo pipefail
build=${1:?usage: bench/annotate.sh BUILD}
bench=$build/bench/annotate_bench
recorder=$build/lib/liboplens_test_recorder.so

measure() {
  "$bench" --benchmark_filter='Clock|BarePair|OpOfThreeTensors|ForwardAndBackward|Layer' \
    --benchmark_repetitions=5 --benchmark_report_aggregates_only --benchmark_min_time=0.1 \
    --benchmark_format=json 2>/dev/null
}

report() {
  python3 -c '
import json, sys
times = {}
for run in json.load(sys.stdin)["benchmarks"]:
    if run.get("aggregate_name") == "median":
        parts = run["run_name"].split("/")
        threads = next((int(p[8:]) for p in parts if p.startswith("threads:")), 1)
        times[parts[0], threads] = run["cpu_time"]
pair = times["BarePair", 1]
for (name, threads), time in times.items():
    if threads not in (1, 16): continue
    one = times[name, 1]
    print(f"  {name:20} {threads:2} threads {time:8.2f} ns of CPU   {time / pair:6.2f} pairs   "
          f"{time / one:5.2f} of one thread")
'
}

echo "no tool"
measure | report
for mode in text payload; do
  echo "tool that takes ${mode}s"
  NVTX_INJECTION64_PATH=$recorder OPLENS_TEST_RECORDER=discard-$mode measure | report
done
