#!/usr/bin/env bash
# Checks record on a machine with an NVIDIA GPU and makes small recordings for examples/data: docs/recording_gpu.md.
# Needs a build with nvcc and the toolkit's CUPTI, python3 with a PyTorch for CUDA; ncu where it is there.
#
#   bench/recording/run.sh BUILD_DIR [OUT_DIR] [OPTION...]      results go to OUT_DIR (default: recording)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?the build folder}
out=${2:-recording}
python=${PYTHON:-python3}

fail() {
  echo "run.sh: $1" >&2
  exit 2
}
for program in bin/record bin/parse bin/prof; do
  [[ -x $build/$program ]] || fail "no $program in $build: build it first"
done
[[ -x $build/examples/mlp_step_cuda ]] || fail "no examples/mlp_step_cuda in $build: configure where nvcc is found"
[[ -e $build/lib/liboplens_torch.so ]] ||
  fail "no lib/liboplens_torch.so in $build: configure with -DCMAKE_PREFIX_PATH=\$($python -c \
'import torch; print(torch.utils.cmake_prefix_path)')"
command -v "$python" >/dev/null || fail "$python is not installed; PYTHON names another one"
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' ||
  fail "$python has no PyTorch that finds a GPU; PYTHON names another one"

exec "$python" "$here/recording.py" "$build" "$out" "${@:3}"
