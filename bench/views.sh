#!/usr/bin/env bash
# bench/views.sh [-b BUILD] [-n RUNS] PROFILE...: CPU time (user + system, median of RUNS, 3 by
# default) and peak memory of all views of a profile in one database, beside `prof --sqlite` of its
# kernels alone in the same run. Compare the ratios; seconds are only of this machine. With several
# profiles, the exponent by which the time grows from the one with the fewest kernels to the one with
# the most. BUILD is build/release by default.
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
[ $# -ge 1 ] || { echo "usage: bench/views.sh [-b BUILD] [-n RUNS] PROFILE..." >&2; exit 2; }
[ -x "$build/bench/measure" ] || { echo "no programs in $build: run cmake --build first" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/oplens-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
measure() { "$build/bench/measure" "$runs" "$@"; }

for profile in "$@"; do
  cat "$profile" >/dev/null # Into the page cache, for all alike.
  kernels=$("$build/bin/prof" --quiet -c idx "$profile" | tail -n +2 | wc -l)
  read -r base_s base_b < <(measure "$build/bin/prof" --quiet --sqlite "$work/kernels.db" "$profile")
  read -r all_s all_b < <(measure "$build/bin/prof" --quiet --view all --sqlite "$work/views.db" "$profile")
  echo "$(basename "$profile") $(stat -Lc %s "$profile") $kernels $base_s $base_b $all_s $all_b"
  rm -f "$work"/*.db
done | tee "$work/rows" | awk '
{
  printf "%-28s %9d kernels, file %8.1f MB: prof --sqlite %8.3f s %8.1f MB; --view all %8.3f s %8.1f MB; CPU x %.2f, ",
    $1, $3, $2 / 1e6, $4, $5 / 1e6, $6, $7 / 1e6, $6 / $4
  if ($1 ~ /json/) printf "memory %.2f of the file\n", $7 / $2
  else printf "memory %.2f of 64 MB + 0.6 x file\n", $7 / (64e6 + 0.6 * $2)
  fflush()
}'
[ $# -ge 2 ] || exit 0
sort -nk3 "$work/rows" | awk '
NR == 1 { kernels = $3; base = $4; all = $6 }
END {
  if ($3 > kernels) {
    times = log($3 / kernels)
    printf "exponent: prof --sqlite %.3f, --view all %.3f\n", log($4 / base) / times, log($6 / all) / times
  }
}'
