#!/usr/bin/env bash
# scripts/peers.sh [arguments of bench/peers.py]: runs HolisticTraceAnalysis and the TensorBoard plugin beside
# `prof --compat` on the traces of OPLENS_CORPUS_DIR and on made-up ranks, and compares every figure: docs/peers.md.
# OPLENS_BIN is the folder of prof, build/release/bin by default.
#
# They are installed into build/python/peers-VERSIONS, once; OPLENS_PEERS_PYTHON names a Python that has them already.
# OPLENS_TB_SOURCE and OPLENS_HTA_SOURCE name folders with the packages torch_tb_profiler and hta, which then count
# instead: the figures of --compat are those of the last sources of the plugin (tb_plugin of pytorch/kineto, commit
# 041e7ce9), which PyPI does not have.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# HTA is on PyPI as traceinsight since 0.6.0; its last release as HolisticTraceAnalysis is 0.5.0.
hta_version=0.6.1
old_hta_version=0.5.0
tb_version=0.4.3
# The plugin and HTA need no more of what they ask for (JupyterLab, pytest, gRPC), and pandas below 3.
packages=(numpy==1.26.4 pandas==2.2.3 networkx==3.4.2 plotly==5.24.1 pydot==3.0.4 psutil==6.1.1 pyyaml==6.0.2
  tensorboard==2.18.0 setuptools==75.8.0)

# peers_environment: prints the Python that has the peers, which is made where it is not there.
peers_environment() {
  local folder=$PWD/build/python/peers-$hta_version-$tb_version
  if [ -n "${OPLENS_PEERS_PYTHON:-}" ]; then
    folder=$(dirname "$(dirname "$OPLENS_PEERS_PYTHON")")
  elif [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    "$(first_python)" -m venv "$folder" >&2 || return 1
    "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2 || return 1
    "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps \
      "traceinsight==$hta_version" "torch-tb-profiler==$tb_version" >&2 || return 1
    "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps \
      --target "$folder/hta-$old_hta_version" "HolisticTraceAnalysis==$old_hta_version" >&2 || return 1
    touch "$folder/complete"
  fi
  "$folder/bin/python3" -c "import hta.trace_analysis, torch_tb_profiler.profiler.loader" >&2 || return 1
  echo "$folder/bin/python3"
}

mkdir -p build
part "peers python" peers_environment >build/peers-python
python=$(tail -n 1 build/peers-python)
made=$PWD/build/peers-made
rm -rf "$made"
"$(first_python)" -B bench/ranks/make_ranks.py "$made/dp4" --layout 4x1x1 --steps 4 >/dev/null
"$(first_python)" -B bench/ranks/make_ranks.py "$made/tp2pp2" --layout 1x2x2 --steps 4 >/dev/null
peers="tb${OPLENS_TB_SOURCE:+@$OPLENS_TB_SOURCE},hta${OPLENS_HTA_SOURCE:+@$OPLENS_HTA_SOURCE}"
"$(first_python)" -B bench/peers.py "${OPLENS_BIN:-build/release/bin}" --python "$python" --made "$made" \
  --peers "$peers" "$@"
