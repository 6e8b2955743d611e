#!/usr/bin/env bash
# Checks that take minutes, over the real profiles of OPLENS_CORPUS_DIR: what is inferred of launches
# that are hidden (scripts/blind_check.py); and over made-up ranks, what becomes of oplens-mpi when a
# process of it is killed (test/mpi/kill_check.py). The programs must be built (release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${OPLENS_CORPUS_DIR:?set it to the folder of real profiles}"
kineto=$OPLENS_CORPUS_DIR/kineto
blind() { python3 scripts/blind_check.py --bin build/release/bin "$@"; }

# Steps that repeat: 90 % of the hidden time is said, and 99 % of that is right.
repeating=("$kineto"/resnet50_num_workers_0/*.gz "$kineto"/resnet50_num_workers_4/*.gz
  "$kineto"/resnet50_v010_num_workers_4/*.gz)
for mode in "--head 30" --every-second --graphs; do
  # shellcheck disable=SC2086
  blind $mode "${repeating[@]}"
  # A quarter of the time is that of a stream of collectives, which are alike in all but their sizes.
  # shellcheck disable=SC2086
  blind $mode --said 75 "$kineto"/ddp_a100_nccl_meta/*.gz
done

# Whatever else there is: hardly anything may be said wrongly.
find "$kineto" -name '*.json.gz' -not -path '*/golden/*' -not -path '*/memory_timeline/*' -print0 |
  sort -z | xargs -0 -n 8 python3 scripts/blind_check.py --bin build/release/bin --head 30 --wrong 0.1

# Killed at any moment, started again: the same rows, and nothing is read twice.
ranks=$(mktemp -d)
trap 'rm -rf "$ranks"' EXIT
python3 bench/ranks/make_ranks.py "$ranks" --layout 4x2x1 --size 3
for program in build/release/bin/oplens-mpi.*; do
  if [ -x "$program" ]; then
    python3 test/mpi/kill_check.py --bin "$PWD/build/release/bin" --mpi "${program##*.}" --runs 20 "$ranks"
  fi
done
