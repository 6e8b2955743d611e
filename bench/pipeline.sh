#!/usr/bin/env bash
# bench/pipeline.sh [-b BUILD] [-n RUNS] DB: CPU time (user + system, median of RUNS, 3 by default) and
# peak memory of the stages on one database, each writing to a file, beside two floors on the same
# machine: a bare sqlite3_step scan of the needed columns (memory-mapped), and `cat`. Compare the
# ratios; seconds are only of this machine. BUILD is build/release by default.
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
[ $# -eq 1 ] || { echo "usage: bench/pipeline.sh [-b BUILD] [-n RUNS] DB" >&2; exit 2; }
db=$1
[ -x "$build/bench/measure" ] || { echo "no programs in $build: run cmake --build first" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/oplens-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
measure() { "$build/bench/measure" "$runs" "$@"; }

cat "$db" >/dev/null # Into the page cache, for all alike.
read -r scan_s scan_b < <(measure "$build/bench/scan_floor" "$db")
read -r parse_s parse_b < <(measure "$build/bin/parse" --quiet -o "$work/net.dict" "$db")
read -r prof_s prof_b < <(measure "$build/bin/prof" --quiet -c all --csv -o "$work/net.csv" "$work/net.dict")
read -r cat_db_s cat_db_b < <(measure /bin/cat "$db")
read -r cat_dict_s cat_dict_b < <(measure /bin/cat "$work/net.dict")

db_bytes=$(stat -Lc %s "$db")
dict_bytes=$(stat -c %s "$work/net.dict")
lines=$(wc -l <"$work/net.dict")
awk -v runs="$runs" -v db_b="$db_bytes" -v dict_b="$dict_bytes" -v lines="$lines" \
  -v scan_s="$scan_s" -v scan_b="$scan_b" -v parse_s="$parse_s" -v parse_b="$parse_b" \
  -v prof_s="$prof_s" -v prof_b="$prof_b" -v cat_db_s="$cat_db_s" -v cat_db_b="$cat_db_b" \
  -v cat_dict_s="$cat_dict_s" -v cat_dict_b="$cat_dict_b" '
function row(name, seconds, bytes) {
  printf "%-22s %10.4f %10.1f %12.2f\n", name, seconds, bytes / 1e6, seconds / scan_s
}
BEGIN {
  printf "%d kernels, database %.1f MB, dict %.1f MB, median of %d runs\n\n", lines, db_b / 1e6, dict_b / 1e6, runs
  printf "%-22s %10s %10s %12s\n", "", "CPU s", "peak MB", "CPU / scan"
  row("scan floor", scan_s, scan_b)
  row("parse -o", parse_s, parse_b)
  row("prof -c all --csv -o", prof_s, prof_b)
  row("cat database", cat_db_s, cat_db_b)
  row("cat dict", cat_dict_s, cat_dict_b)
  printf "\nparse: peak memory %.2f of 64 MB + 0.35 x database\n", parse_b / (64e6 + 0.35 * db_b)
  if (lines > 0) {
    printf "prof: %.0f lines/s, %.0f MB/s of dict, %.1f x cat, peak memory %.2f of 64 MB + 100 B a line\n",
      lines / prof_s, dict_b / prof_s / 1e6, prof_s / (cat_dict_s > 0 ? cat_dict_s : 1e-6), prof_b / (64e6 + 100 * lines)
  }
  printf "parse and prof together: %.1f ms of CPU\n", 1000 * (parse_s + prof_s)
}'
