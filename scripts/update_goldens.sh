#!/usr/bin/env bash
# Rewrites examples/data/demo.sql, the expected texts in test/golden and the tables of docs/gpus.md from
# the release build. Read the diff before you commit it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages build test
configure release >/dev/null
cmake --build --preset release --parallel "$(job_count)" --target make_demo_db e2e_test ops_test \
  summary_test oplens_program
build/release/examples/make_demo_db examples/data/demo.sql
OPLENS_UPDATE_GOLDENS=1 build/release/bin/e2e_test --gtest_filter='*Golden*' --gtest_brief=1
OPLENS_UPDATE_GOLDENS=1 build/release/bin/ops_test --gtest_filter='GpuPageTest.*' --gtest_brief=1
# The files of test/golden/summary stay as they are: only what is read of them is written anew.
OPLENS_UPDATE_GOLDENS=1 build/release/bin/summary_test --gtest_filter='*OlderFiles*' --gtest_brief=1
git status --short examples/data test/golden docs/gpus.md
