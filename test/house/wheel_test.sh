#!/usr/bin/env bash
# wheel_test.sh PYTHON BUILD_DIR: installs the Python package with pip, which builds the library for the PyTorch
# that is there, and annotates a program with it; then lets it build that library itself at first use.
set -euo pipefail
python=$1
build=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
prefix=$(sed -n 's/^OPLENS_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
"$python" -c "import torch, setuptools, wheel, pip, venv, ensurepip" 2>/dev/null ||
  { echo "$python lacks torch, setuptools, wheel, pip or venv"; exit 77; }

work=$build/test-tmp/wheel
rm -rf "$work"
mkdir -p "$work"
"$python" -m venv --system-site-packages "$work/venv"
# Where that Python is of a virtual environment itself, its packages too.
"$python" -c "import site; print('\\n'.join(site.getsitepackages()))" \
  >"$(echo "$work"/venv/lib/python*/site-packages)/outer.pth"
# What is optimised takes twice as long to build, and says nothing more here.
export CXXFLAGS=-O0
# What did not change since the last time, and what the wheel and its Python compile alike, is compiled once.
if command -v ccache >/dev/null && [ -z "${CXX:-}" ]; then export CXX="ccache c++"; fi
before=$(cd "$source" && find nvtx_annotate -not -name '*.pyc' -not -name __pycache__ | sort)
"$work/venv/bin/pip" install --no-index --no-build-isolation --no-deps "$source/nvtx_annotate/torch" \
  >"$work/pip.log" 2>&1 || { cat "$work/pip.log"; exit 1; }
after=$(cd "$source" && find nvtx_annotate -not -name '*.pyc' -not -name __pycache__ | sort)
[ "$before" = "$after" ] || { echo "the source tree was written to"; exit 1; }

unset PYTHONPATH OPLENS_TORCH_LIBRARY OPLENS_TORCH_BUILD LD_LIBRARY_PATH
export XDG_CACHE_HOME=$work/cache OMP_NUM_THREADS=1
cd "$work"
# The number of annotated ops of a run.
ops() {
  rm -f run.sql
  "$build/bin/${prefix}record" -o run.sql -- "$work/venv/bin/python" -m oplens_annotate \
    "$source/examples/train.py" --epochs 1 >out.log 2>err.log || { cat err.log; return 1; }
  "$build/bin/${prefix}parse" --check run.sql 2>/dev/null | sed -n 's/^ *ops with arguments *\([0-9]*\).*/\1/p'
}
whole=$(ops)
[ "$whole" -gt 100 ] || { echo "the wheel annotates $whole ops"; exit 1; }
if grep -q oplens_annotate: err.log; then cat err.log; exit 1; fi

# Where the library is for another version, PyTorch's own ranges take its place; nothing is built unasked.
rm "$work"/venv/lib/*/site-packages/oplens_annotate/liboplens_torch-*.so
[ "$(ops)" = 0 ]
grep -q "emit_nvtx of PyTorch takes its place" err.log
[ ! -e "$work/cache" ]
# On request it is, once.
[ "$(OPLENS_TORCH_BUILD=1 ops)" = "$whole" ]
grep -q "it is built now" err.log
[ "$(ops)" = "$whole" ]
if grep -q oplens_annotate: err.log; then cat err.log; exit 1; fi
# Why it cannot be built, in one line.
rm -r "$work/cache"
[ "$(CXX=/nowhere/c++ OPLENS_TORCH_BUILD=1 ops)" = 0 ]
grep -q "could not be built: /nowhere/c++ cannot be started" err.log
"$work/venv/bin/python" - <<'END'
import os
from oplens_annotate import _build

exists = os.path.exists
os.path.exists = lambda path: "nvtx3" not in str(path) and exists(path)
try:
    _build.wheel_libraries("unused")
except _build.BuildError as error:
    assert "NVTX's headers" in str(error) and "set CUDA_HOME" in str(error), error
else:
    raise SystemExit("built without NVTX")
END
echo "wheel ok"
