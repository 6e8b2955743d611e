#!/usr/bin/env bash
# scripts/format.sh [--check]: formats every C++ file of the project; --check only says which differ.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages format
mode=(-i)
if [ "${1:-}" = --check ]; then mode=(--dry-run --Werror); fi
find nvtx_annotate base engine parse python ops prof record report mcp oplens mpi test examples bench \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 clang-format "${mode[@]}"
