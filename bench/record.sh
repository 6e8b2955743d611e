#!/usr/bin/env bash
# bench/record.sh BUILD [SECONDS]: what recording costs. First the program alone, then under `record`:
# the cost of an NVTX push/pop pair for the thread that makes it, in pairs of clock readings of the
# same run; a million pairs a second for SECONDS; how many of them are in the database, and how fast
# the spool became one.
#
# Goals: at most 5 pairs of clock readings for names up to 32 bytes and registered strings, 15 for 400
# bytes; no range lost at a million a second; at most 64 MB in the program.
set -euo pipefail
build=${1:?usage: bench/record.sh BUILD [SECONDS]}
seconds=${2:-10}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "alone"
"$build/bench/record_overhead" 0 | sed 's/^/  /'
echo "recorded"
start=$(date +%s.%N)
"$build/bin/record" -o "$folder/net.sql" -- "$build/bench/record_overhead" "$seconds" >"$folder/out"
end=$(date +%s.%N)
sed 's/^/  /' "$folder/out"
made=$(sed -n 's/^ranges: //p' "$folder/out")
python3 - "$folder/net.sql" "$made" "$start" "$end" <<'PYTHON'
import os, sqlite3, sys
path, made, start, end = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
database = sqlite3.connect(path)
ended = database.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 4").fetchone()[0]
print(f"  database: {ended} of {made} ranges, {os.path.getsize(path) / 1e6:.0f} MB, "
      f"{2 * made / (end - start) / 1e6:.2f} million rows a second with the program's own time")
sys.exit(0 if ended == made else 1)
PYTHON
