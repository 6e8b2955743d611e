#!/usr/bin/env bash
# Installs what is missing, builds the programs and shows them at work on the demo profile.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages build
configure release -DOPLENS_TESTS=OFF -DOPLENS_BENCH=OFF >/dev/null
cmake --build --preset release --target programs --parallel "$(job_count)"

echo
echo '$ oplens examples/data/demo.sql'
build/release/bin/oplens examples/data/demo.sql
echo
echo '$ parse examples/data/demo.sql | prof -w 130 -c seq,layer,op,dir,kernel,sil,tc,flops,bytes | head -n 40'
build/release/bin/parse examples/data/demo.sql |
  build/release/bin/prof -w 130 -c seq,layer,op,dir,kernel,sil,tc,flops,bytes | head -n 40
echo
echo '$ report examples/data/demo.sql -o build/release/demo.html'
build/release/bin/report --quiet examples/data/demo.sql -o build/release/demo.html
echo "A page of the demo, for any browser: $PWD/build/release/demo.html"
echo
echo "The programs are in build/release/bin: oplens runs the others, record, parse, prof, report."
