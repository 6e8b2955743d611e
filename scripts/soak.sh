#!/usr/bin/env bash
# Checks that take minutes, over the real profiles of OPLENS_CORPUS_DIR: what is inferred of launches
# that are hidden (scripts/blind_check.py). The programs must be built (release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${OPLENS_CORPUS_DIR:?set it to the folder of real profiles}"
kineto=$OPLENS_CORPUS_DIR/kineto
blind() { python3 scripts/blind_check.py --bin build/release/bin "$@"; }

# Steps that repeat: 90 % of the hidden time is said, and 99 % of that is right.
repeating=("$kineto"/resnet50_num_workers_0/*.gz "$kineto"/resnet50_num_workers_4/*.gz
  "$kineto"/resnet50_v010_num_workers_4/*.gz "$kineto"/ddp_a100_nccl_meta/*.gz)
for mode in "--head 30" --every-second --graphs; do
  # shellcheck disable=SC2086
  blind $mode "${repeating[@]}"
done

# Whatever else there is: hardly anything may be said wrongly.
find "$kineto" -name '*.json.gz' -not -path '*/golden/*' -not -path '*/memory_timeline/*' -print0 |
  sort -z | xargs -0 -n 8 python3 scripts/blind_check.py --bin build/release/bin --head 30 --wrong 0.1
