#!/usr/bin/env bash
# cluster_check.sh BIN "MPI..." TRACES WORK: runs the scripts of examples/cluster/ on the Slurm that is there, and
# compares their tables with those of `prof` over TRACES.
set -euo pipefail
bin=$1
mpis=$2
traces=$3
work=$4
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples/cluster" && pwd)
export VIEWS=distributed,collectives PROF=$bin/prof
cd "$work"

# The rows of the tables of a database.
rows() {
  python3 - "$1" <<'EOF'
import sqlite3
import sys
database = sqlite3.connect(sys.argv[1])
for table in ("distributed", "collectives"):
    print(table, *database.execute(f"SELECT * FROM {table}"), sep="\n")
EOF
}

same() {
  rows "$1" >rows.txt
  if ! cmp -s expected.txt rows.txt; then
    echo "$2: other rows than those of prof"
    diff expected.txt rows.txt | head -n 5
    exit 1
  fi
}

"$PROF" --quiet --view "$VIEWS" --sqlite expected.db "$traces"
rows expected.db >expected.txt
[ -s expected.txt ]

declare -A flag=([openmpi]=pmix [mpich]=pmi2)
for mpi in $mpis; do
  mkdir "$mpi"
  SUMMARIES=$work/$mpi MPI=${flag[$mpi]} OPLENS_MPI=$bin/oplens-mpi.$mpi \
    sbatch --wait -n 3 -o "$mpi.log" "$scripts/oplens_mpi.sbatch" "$traces" "$work/$mpi.db" >/dev/null ||
    { cat "$mpi.log"; exit 1; }
  same "$mpi.db" "$mpi"
done

job=$(SUMMARIES=$work/array "$scripts/array_and_merge.sh" "$traces" "$work/array.db" 2)
for _ in $(seq 300); do
  if [ -z "$(squeue -h -j "$job" 2>/dev/null)" ]; then break; fi
  sleep 0.2
done
[ -s array.db ] || { cat slurm-*.out; exit 1; }
same array.db "array and merge"
