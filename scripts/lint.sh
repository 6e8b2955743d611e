#!/usr/bin/env bash
# scripts/lint.sh [FILE...]: clang-tidy over the dev build's files, or over the given ones.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages build test lint
configure dev >/dev/null
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(find nvtx_annotate base parse ops prof record report mcp oplens mpi -name '*.cc')
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(job_count)" clang-tidy -p build/dev --quiet
