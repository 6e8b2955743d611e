#!/usr/bin/env bash
# scripts/test.sh [PRESET] [ctest arguments]: installs what is missing, builds a preset (release by
# default) and runs every test.
#
# OPLENS_CORPUS_DIR and OPLENS_SPECS_DIR, when set, name the folders of real profiles and reference
# tables; the tests that need them are skipped otherwise. OPLENS_WERROR=ON makes warnings errors,
# OPLENS_ALL_PARTS=ON what would be left out of the build (`record`, the adaptor for PyTorch).
# OPLENS_MPI="openmpi;mpich" builds and tests oplens-mpi with these. OPLENS_TEST_SET=programs or units builds and
# runs these tests alone (test/CMakeLists.txt).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=release
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
  preset=$1
  shift
fi

need_packages build test
case "$preset" in coverage | asan-ubsan) need_packages "$preset" ;; esac
if [ -n "${OPLENS_MPI:-}" ]; then need_packages mpi; fi
test_set=${OPLENS_TEST_SET:-all}
targets=()
# Unit tests need no more than their libraries, and few programs.
if [ "$test_set" = units ]; then targets=(--target tests); fi
configure "$preset" -DOPLENS_WERROR="${OPLENS_WERROR:-OFF}" -DOPLENS_MPI="${OPLENS_MPI:-OFF}" \
  -DOPLENS_TEST_SET="$test_set" -DOPLENS_ALL_PARTS="${OPLENS_ALL_PARTS:-OFF}"
part "$preset build" cmake --build --preset "$preset" --parallel "$(job_count)" "${targets[@]}"
part "$preset tests" ctest --preset "$preset" --parallel "$(job_count)" "$@"
