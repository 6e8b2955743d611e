#!/usr/bin/env bash
# scripts/torch.sh [short|all|headers VERSION] [ctest arguments]: builds the adaptor for a PyTorch of today in
# build/torch and runs its tests there: the programs of test/torch/programs ("short", what .ci/run does), or all of
# them, with what torch.compile makes, emit_nvtx beside it and all that torch.profiler writes ("all"). "headers VERSION" compiles the adaptor alone,
# with the headers of one wheel of that version.
#
# PyTorch, transformers and torchao are installed into build/python/torch-VERSION, once; OPLENS_TORCH_PYTHON names a Python
# that has them already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

torch_version=2.13.0
transformers_version=5.24.0
torchao_version=0.18.0

# torch_environment: prints the Python that has PyTorch, which is made where it is not there.
torch_environment() {
  local folder=$PWD/build/python/torch-$torch_version
  if [ -n "${OPLENS_TORCH_PYTHON:-}" ]; then
    folder=$(dirname "$(dirname "$OPLENS_TORCH_PYTHON")")
  elif [ "$(cat "$folder/complete" 2>/dev/null)" != "$transformers_version $torchao_version" ]; then
    rm -rf "$folder"
    "$(first_python)" -m venv "$folder" >&2 || return 1
    # Compiled when it is first imported, below: that is a tenth of it.
    "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check --no-compile "torch==$torch_version" numpy \
      "transformers==$transformers_version" setuptools wheel >&2 || return 1
    # What it asks for besides is there, or serves its own tests.
    "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
      "torchao==$torchao_version" >&2 || return 1
    echo "$transformers_version $torchao_version" >"$folder/complete"
  fi
  "$folder/bin/python3" -c "import torch, torch._inductor.compile_fx, torch.distributed.fsdp, transformers
from transformers import (BertModel, GemmaModel, LlamaModel, MambaModel, Qwen3MoeModel, T5Model, ViTModel, WhisperModel)
assert torch.__version__.startswith('$torch_version')" >&2 || return 1
  echo "$folder/bin/python3"
}

# headers_of VERSION: unpacks the headers and libraries of a wheel, prints the folder torch.
headers_of() {
  local folder=$PWD/build/python/headers-$1
  if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder/wheel"
    "$(first_python)" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder/wheel" \
      "torch==$1" >&2 || return 1
    "$(first_python)" - "$folder" <<'EOF' >&2 || return 1
import glob, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/wheel/*.whl")[0])
kept = ("torch/lib/libtorch.so", "torch/lib/libtorch_cpu.so", "torch/lib/libc10.so")
wheel.extractall(sys.argv[1], [name for name in wheel.namelist()
                               if name.startswith(("torch/include/", "torch/share/cmake/")) or name in kept])
EOF
    rm -rf "$folder/wheel"
    touch "$folder/complete"
  fi
  echo "$folder/torch"
}

mode=${1:-short}
if [ $# -gt 0 ]; then shift; fi
need_packages build test

if [ "$mode" = headers ]; then
  version=${1:?a version of PyTorch}
  folder=$(headers_of "$version")
  configure release -B "build/torch-$version" -DOPLENS_TORCH="$folder" -DOPLENS_TESTS=OFF -DOPLENS_BENCH=OFF >/dev/null
  cmake --build "build/torch-$version" --parallel "$(job_count)" --target oplens_torch
  echo "the adaptor compiles for PyTorch $version"
  exit
fi

mkdir -p build
part "torch python" torch_environment >build/torch-python
python=$(tail -n 1 build/torch-python)
configure release -B build/torch -DOPLENS_TORCH="$python" -DOPLENS_WERROR="${OPLENS_WERROR:-OFF}" \
  -DOPLENS_TEST_SET=programs >/dev/null
targets=(torch_programs)
# Of what torch.profiler writes, the families whose traces are small.
tests=(-R '^torch\.(programs\.|profiled\.(networks|optimizing|distributed)$)'
  -E '^torch\.programs\.(execution_|compiled|reasons|tables_[^t]|tables_tensors)')
if [ "$mode" = all ]; then
  targets+=(torch_tests)
  tests=(-R '^torch\.')
fi
part "torch build" cmake --build build/torch --parallel "$(job_count)" --target "${targets[@]}"
part "torch tests" ctest --test-dir build/torch --output-on-failure --parallel "$(job_count)" "${tests[@]}" "$@"
