#!/usr/bin/env bash
# package_test.sh CMAKE BUILD_DIR CONSUMER_SOURCE: installs the build into a fresh prefix inside the
# build folder, builds a project against it and runs the result.
set -euo pipefail
cmake=$1
build=$2
consumer=$3
work=$build/test-tmp/package
rm -rf "$work"
mkdir -p "$work"

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log"
# Installed are the headers that call themselves public, and no others.
source=$(dirname "$0")/../..
installed=$(cd "$work/prefix/include/oplens" && find . -name '*.h' | sed 's|^\./||' | sort)
public=$(cd "$source" && grep -rlE --include='*.h' '^(//|/\*) Public header: installed' \
  base engine nvtx_annotate parse ops prof record | sort)
[ "$installed" = "$public" ] || { diff <(echo "$installed") <(echo "$public"); exit 1; }

sanitize=$(sed -n 's/^OPLENS_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
coverage=$(sed -n 's/^OPLENS_COVERAGE:BOOL=ON$/--coverage/p' "$build/CMakeCache.txt")
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
prefix=$(sed -n 's/^OPLENS_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
"$cmake" -S "$consumer" -B "$work/build" \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS="${sanitize:+-fsanitize=$sanitize} $coverage" >"$work/configure.log"
"$cmake" --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
[ "$("$work/build/consumer" "$source/examples/data/demo.sql")" = ok ]

for program in oplens "$prefix"{parse,prof,record,report}; do
  "$work/prefix/bin/$program" --version >/dev/null
  # Their pages and completion have the installed names, inside too.
  page=$(echo "$work/prefix/share/man/man1/$program".1*)
  if [[ $page == *.gz ]]; then gzip -df "$page"; fi
  grep -qi "^\.TH ${program//-/\\\\-} 1 " "${page%.gz}"
  bash -n "$work/prefix/share/bash-completion/completions/$program"
  grep -q "^#compdef $program\$" "$work/prefix/share/zsh/vendor-completions/_$program"
done
# Hardened programs are linked at their start, and then cannot be changed.
if grep -q '^OPLENS_HARDENED:BOOL=ON$' "$build/CMakeCache.txt"; then
  for file in "$work/prefix/bin/${prefix}prof" "$work/prefix/lib"/*.so; do
    readelf -dW "$file" | grep -E "BIND_NOW|FLAGS_1.*NOW" >/dev/null || { echo "$file is not hardened"; exit 1; }
  done
  readelf -sW "$work/prefix/bin/${prefix}prof" | grep __stack_chk_fail >/dev/null
fi
# It must find its library in the prefix; a build without NVTX has none.
if [ -e "$build/lib/liboplens_record.so" ]; then
  "$work/prefix/bin/${prefix}record" -o "$work/true.sql" -- true
  "$work/prefix/bin/${prefix}parse" "$work/true.sql" -o /dev/null
fi

# A program of its own, without CMake: docs/annotate.md.
nvtx=$(sed -n 's/^OPLENS_NVTX_INCLUDE_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -e "$nvtx/nvtx3/nvToolsExt.h" ]; then
  (cd "$source" && "$compiler" -std=c++17 -I. -I"$nvtx" "$consumer/plain.cc" nvtx_annotate/*.cc \
    nvtx_annotate/vocabulary/*.cc -ldl -o "$work/plain")
  [ "$("$work/plain")" = ok ]
fi

# The Python package, from the prefix and from the build folder; the adaptor was built where it is.
python=$(sed -n 's/^OPLENS_TORCH_PYTHON:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -z "$sanitize" ] && [ -e "$work/prefix/lib/liboplens_torch.so" ] && "$python" -c "import torch"; then
  for folder in "$work/prefix/lib/oplens" "$build/lib"; do
    PYTHONPATH=$folder "$work/prefix/bin/${prefix}record" -f -o "$work/train.sql" -- \
      "$python" -m oplens_annotate "$source/examples/train.py" --epochs 1
    "$work/prefix/bin/${prefix}parse" --check "$work/train.sql" | grep -E "ops with arguments +[1-9]" >/dev/null
  done
fi
echo "package ok"
