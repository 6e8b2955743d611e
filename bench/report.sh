#!/usr/bin/env bash
# bench/report.sh [-b BUILD] [-k KEPT] [PROFILE...]: what `report` makes of runs of 1,000, 100,000 and
# 1,000,000 kernels with some six host events each (bench/make_trace) and of 10,000,000 kernels in
# memory (bench/page_of_many), and of the profiles that are given: size of the page, CPU time and
# memory beside `prof --view all --sqlite` of the same file in the same run, and where Node.js,
# the packages of report/page and Chromium are, how fast it opens and moves. BUILD is build/release
# by default. KEPT is a folder for traces and pages; without it they are removed. Needs some 4 GB of
# disk, and some minutes. OPLENS_BENCH_KERNELS, by default "1000 100000 1000000", and OPLENS_BENCH_MANY,
# by default 10000000, make it smaller.
#
# Goals: 1k kernels at most 0.4 MB, 100k 3.5 MB, 1M and 10M 10 MB; CPU at most that of prof and 8 us
# an event that is kept; memory at most 1.25 of prof's; those of the browser stand beside the figures.
# Compare ratios; seconds are only of this machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release
kept=
while getopts b:k: option; do
  case $option in
    b) build=$OPTARG ;;
    k) kept=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ -x "$build/bench/measure" ] || { echo "no programs in $build: run cmake --build first" >&2; exit 1; }

work=${kept:-$(mktemp -d "${TMPDIR:-/tmp}/oplens-bench.XXXXXX")}
mkdir -p "$work"
[ -n "$kept" ] || trap 'rm -rf "$work"' EXIT

# What is on a page: events of GPUs and of the host that are kept, and of how many.
events() {
  python3 -c '
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
summary = json.loads(re.search(r"id=\"summary\">(.*?)</script>", page, re.S).group(1))
for kind in ("stream", "thread"):
    lanes = [lane for lane in summary["timeline"]["lanes"] if lane["kind"] == kind]
    print(sum(chunk["count"] for lane in lanes for chunk in lane["chunks"]), sum(lane["events"] for lane in lanes))
' "$1" | tr '\n' ' '
}

# page NAME PROFILE MOST_MB: MOST_MB 0 is no goal.
page() {
  cat "$2" >/dev/null # Into the page cache, for all alike.
  read -r report_s report_b < <("$build/bench/measure" 1 "$build/bin/report" --quiet "$2" -o "$work/$1.html")
  read -r prof_s prof_b < <("$build/bench/measure" 1 "$build/bin/prof" --quiet --view all --sqlite "$work/views.db" "$2")
  rm -f "$work/views.db"
  echo "$1 $3 $(stat -Lc %s "$2") $(stat -c %s "$work/$1.html") $(events "$work/$1.html") $report_s $report_b $prof_s $prof_b" | awk '{
    goal = $2 > 0 ? sprintf(" (%s)", $2) : ""
    budget = $11 + 8e-6 * ($5 + $7)
    printf "%s, file %.1f MB: page %.2f MB%s, %d of %d events of GPUs, %d of %d of the host; ", $1, $3 / 1e6, $4 / 1e6, goal, $5, $6, $7, $8
    printf "CPU %.2f s, prof %.2f s and 8 us an event x %.2f (1); memory %.0f MB, prof %.0f MB x %.2f (1.25)\n", $9, $11, $9 / budget, $10 / 1e6, $12 / 1e6, $10 / $12
  }'
}

pages=()
for kernels in ${OPLENS_BENCH_KERNELS-1000 100000 1000000}; do
  case $kernels in
    1000) goal=0.4 ;;
    100000) goal=3.5 ;;
    *) goal=10 ;;
  esac
  [ -s "$work/$kernels.json" ] || "$build/bench/make_trace" "$kernels" "$work/$kernels.json"
  page "$kernels" "$work/$kernels.json" "$goal"
  pages+=("$work/$kernels.html")
  [ -n "$kept" ] || rm "$work/$kernels.json"
done
for profile in "$@"; do
  page "$(basename "$profile")" "$profile" 0
  pages+=("$work/$(basename "$profile").html")
done
if [ "${OPLENS_BENCH_MANY:=10000000}" -gt 0 ]; then
  "$build/bench/page_of_many" "$OPLENS_BENCH_MANY" "$work/many.html" 2>&1 | head -1
  pages+=("$work/many.html")
fi

if command -v node >/dev/null && [ -d "$root/report/page/node_modules" ]; then
  node "$root/bench/open_page.mjs" "${pages[@]}"
else
  echo "pages are not opened: no Node.js, or no packages of report/page (npm ci --ignore-scripts there)"
fi
