#!/bin/bash
# Tables of all ranks of a run without MPI: a job array makes a summary for each rank, and a job that
# waits for it merges them. Prints the number of that job.
#
#     array_and_merge.sh /traces/run7 run7.db [TASKS]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
traces=$1
tables=$2
tasks=${3:-16}
summaries=${SUMMARIES:-$traces/summaries}
mkdir -p "$summaries"
array=$(sbatch --parsable --array="0-$((tasks - 1))" "$here/summarise.sbatch" "$traces" "$summaries")
# A rank that failed is missing from the tables, which say so.
sbatch --parsable --dependency="afterany:${array%%;*}" "$here/merge.sbatch" "$summaries" "$tables"
