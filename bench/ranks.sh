#!/usr/bin/env bash
# bench/ranks.sh [-b BUILD] [-n RUNS] [read|merge]...: what docs/scale.md is made of, on made-up ranks
# (bench/ranks/make_ranks.py). read: CPU time (user + system, median of RUNS, 3 by default) and peak
# memory of `prof --summary` for files of 50, 200 and 500 MB, and the size of the summary. merge: those
# of `prof --view` over 100, 1000 and 10,000 summaries of 500 collectives, and the exponent by which
# they grow. Both by default. BUILD is build/release by default.
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
parts=${*:-read merge}
[ -x "$build/bench/measure" ] || { echo "no programs in $build: run cmake --build first" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/oplens-ranks.XXXXXX")
trap 'rm -rf "$work"' EXIT
make_ranks() { python3 -B "$root/bench/ranks/make_ranks.py" "$@" >/dev/null; }

read_ranks() {
  local size file seconds peak run
  for size in 50 200 500; do
    make_ranks "$work/$size" --layout 2x1x1 --steps 12 --size "$size" --only 0-0
    file=$work/$size/rank0.json
    cat "$file" >/dev/null # Into the page cache.
    for ((run = 0; run < runs; ++run)); do
      rm -f "$work/one.oplens" # Else it is up to date.
      "$build/bench/measure" 1 "$build/bin/prof" --quiet --summary "${views[@]}" -o "$work/one.oplens" "$file"
    done | sort -n >"$work/times"
    read -r seconds peak < <(sed -n "$(((runs + 1) / 2))p" "$work/times")
    echo "$(stat -c %s "$file") $seconds $peak $(stat -c %s "$work/one.oplens") $(grep -c '"cat": "kernel"' "$file")"
    rm -r "${work:?}/$size" "$work/one.oplens"
  done | awk '{ printf "file %6.1f MB, %7d kernels: %7.2f s of CPU, %6.1f MB/s; peak %7.1f MB; summary %.3f MB\n",
    $1 / 1e6, $5, $2, $1 / 1e6 / $2, $3 / 1e6, $4 / 1e6; fflush() }'
}

merge_ranks() {
  local count seconds peak
  for count in 100 1000 10000; do
    make_ranks "$work/of_$count" --layout $((count / 4))x4x1 --steps 12 --only 0-0
    "$build/bin/prof" --quiet --summary "${views[@]}" -o "$work/one.oplens" "$work/of_$count/rank0.json"
    "$build/bench/make_summaries" "$work/one.oplens" "$work/many" "$count" 4
    read -r seconds peak < <("$build/bench/measure" "$runs" "$build/bin/prof" --quiet --view "$shown" --by kind,group --json "$work/many")
    echo "$count $(du -sb "$work/many" | cut -f 1) $seconds $peak"
    rm -r "$work/many" "$work/of_$count" "$work/one.oplens"
  done | awk '{ printf "%6d summaries, %7.1f MB: %7.2f s of CPU, %.3f ms a rank; peak %7.1f MB", $1, $2 / 1e6, $3,
    $3 * 1000 / $1, $4 / 1e6
    if (NR > 1) printf "; exponent %.3f", log($3 / before) / log($1 / ranks)
    printf "\n"; before = $3; ranks = $1; fflush() }'
}

# Those of them that there are; collectives by kind and group.
shown=$("$build/bin/prof" --view list | awk '/^ +(ranks|collectives|stragglers|distributed|overview|operators) / {
  list = list (list == "" ? "" : ",") $1 } END { print list }')
views=(--summary-views "$shown" --view collectives --by kind,group)
for part in $parts; do
  case $part in
    read) read_ranks ;;
    merge) merge_ranks ;;
    *) echo "there are the parts read and merge" >&2; exit 2 ;;
  esac
done
