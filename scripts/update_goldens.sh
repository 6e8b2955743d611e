#!/usr/bin/env bash
# Rewrites examples/data/demo.sql and the expected texts in test/golden from the release build. Read
# the diff before you commit it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages build test
configure release >/dev/null
cmake --build --preset release --parallel "$(job_count)" --target make_demo_db e2e_test \
  oplens_parse_program oplens_prof_program
build/release/examples/make_demo_db examples/data/demo.sql
OPLENS_UPDATE_GOLDENS=1 build/release/bin/e2e_test --gtest_filter='*Golden*' --gtest_brief=1
git status --short examples/data test/golden
