#!/usr/bin/env bash
# bench/trace.sh [-b BUILD] [-n RUNS] FILE: CPU time (user + system, median of RUNS, 3 by default) and
# peak memory of reading one trace of PyTorch's profiler into the model, beside `cat` of the file on the
# same machine; then its wall time packed with gzip, beside gzip -dc. FILE is JSON, not packed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release
runs=3
while getopts b:n: option; do
  case $option in
    b) build=$OPTARG ;;
    n) runs=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || { echo "usage: bench/trace.sh [-b BUILD] [-n RUNS] FILE" >&2; exit 2; }
file=$1
[ -x "$build/bench/measure" ] || { echo "no programs in $build: run cmake --build first" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/oplens-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
measure() { "$build/bench/measure" "$runs" "$@"; }
# The least wall time of some runs, s.
wall() {
  local best=
  for _ in $(seq "$runs"); do
    local start end
    start=$(date +%s%N)
    "$@" >/dev/null
    end=$(date +%s%N)
    if [ -z "$best" ] || [ $((end - start)) -lt "$best" ]; then best=$((end - start)); fi
  done
  awk -v ns="$best" 'BEGIN { print ns / 1e9 }'
}

cat "$file" >/dev/null # Into the page cache, for all alike.
read -r cat_s _ < <(measure /bin/cat "$file")
read -r load_s load_b < <(measure "$build/bench/load_trace" "$file")
gzip -1 -c "$file" >"$work/trace.json.gz"
plain=$(wall "$build/bench/load_trace" "$file")
packed=$(wall "$build/bench/load_trace" "$work/trace.json.gz")
unpack=$(wall gzip -dc "$work/trace.json.gz")
awk -v bytes="$(stat -Lc %s "$file")" -v cat_s="$cat_s" -v s="$load_s" -v b="$load_b" \
  -v plain="$plain" -v packed="$packed" -v unpack="$unpack" 'BEGIN {
  printf "%.1f MB: read into the model in %.3f s of CPU, %.0f MB/s, %.1f x cat\n", bytes / 1e6, s, bytes / s / 1e6, s / (cat_s > 0 ? cat_s : 1e-3)
  printf "peak memory %.1f MB, %.2f of the file\n", b / 1e6, b / bytes
  slower = unpack > plain ? unpack : plain
  printf "packed: %.3f s of wall time, %.2f of the larger of gzip -dc (%.3f s) and reading it plain (%.3f s)\n", packed, packed / slower, unpack, plain
}'
