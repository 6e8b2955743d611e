#!/usr/bin/env bash
# bench/torch_overhead.sh [BUILD] [ROUNDS] [SECONDS]: what annotating costs a program that uses
# libtorch, as the ratio of the time of an iteration to that of the bare program. Each round runs the
# program bare, with the adaptor and no profiler, with a recorder that takes binary payloads, and with
# one that takes texts; what is printed is the median over the rounds, of each round's own ratio.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release}
rounds=${2:-9}
seconds=${3:-2}
program=$build/bench/torch_overhead
preload=$(realpath "$build/lib/liboplens_annotate_preload.so")
recorder=$(realpath "$build/lib/liboplens_test_recorder.so")

median() { sort -g | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

for size in small large; do
  flag=()
  if [ $size = large ]; then flag=(--large); fi
  run() { env "$@" "$program" "${flag[@]}" "$seconds"; }
  rows=$(for _ in $(seq "$rounds"); do
    bare=$(run A=)
    none=$(run LD_PRELOAD="$preload")
    payload=$(run LD_PRELOAD="$preload" NVTX_INJECTION64_PATH="$recorder" OPLENS_TEST_RECORDER=discard-payload)
    text=$(run LD_PRELOAD="$preload" NVTX_INJECTION64_PATH="$recorder" OPLENS_TEST_RECORDER=discard-text)
    again=$(run A=)
    awk -v a="$bare" -v b="$again" -v n="$none" -v p="$payload" -v t="$text" \
      'BEGIN { m = (a + b) / 2; printf "%.0f %.3f %.3f %.3f %.3f\n", m, b / a, n / m, p / m, t / m }'
  done)
  column() { awk -v c="$1" '{ print $c }' <<<"$rows" | median; }
  echo "$size: bare $(column 1) ns an iteration; ratios: bare again $(column 2)," \
    "no tool $(column 3), payload $(column 4), text $(column 5)"
done
