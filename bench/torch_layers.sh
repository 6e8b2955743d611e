#!/usr/bin/env bash
# bench/torch_layers.sh [BUILD] [ROUNDS]: what oplens_annotate costs a Python program, as the ratio of
# the CPU time of a step to that of the bare step in the same process: with no tool, under `record` with
# emission switched off, under `record`, there with layers alone, and with call sites too. PYTHON names the Python of
# the PyTorch that BUILD was made for.
#
# Goals: no tool at most 1.02 of the bare step; under `record` linear_relu at most 1.11 and pointwise at most 1.20 times
# the step with an observer that does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath "${1:-build/release}")
rounds=${2:-11}
python=${PYTHON:-/usr/bin/python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PYTHONPATH=$build/lib OMP_NUM_THREADS=1

recorded() { "$build/bin/record" -f -o "$folder/run.sql" -- "$@" 2>"$folder/messages" || cat "$folder/messages"; }

idle=$build/bench/libidle_observer.so
"$python" bench/torch_layers.py "no tool" "$rounds"
OPLENS_ANNOTATE=off recorded "$python" bench/torch_layers.py off "$rounds"
recorded "$python" bench/torch_layers.py record "$rounds" "$idle"
recorded "$python" bench/torch_layers.py "record, layers alone" "$rounds"
recorded "$python" bench/torch_layers.py "record, trace" "$rounds" "$idle"
