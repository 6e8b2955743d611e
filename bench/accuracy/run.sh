#!/usr/bin/env bash
# Checks prof's FLOPs, bytes and Tensor Core flags against hardware counters, kernel by kernel.
# Needs an NVIDIA GPU, ncu (Nsight Compute) with permission to read counters, python3 with torch.
#
#   bench/accuracy/run.sh BIN_DIR [OUT_DIR [PROGRAM]]
#
# BIN_DIR holds prof; results go to OUT_DIR (default: accuracy); PROGRAM is step (default), a training step, or ops,
# calls of operators one by one.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${1:?the folder that holds prof}
out=${2:-accuracy}
program=$here/${3:-step}.py
for tool in ncu python3; do
  command -v "$tool" >/dev/null || { echo "run.sh: $tool is not installed" >&2; exit 2; }
done
[[ -x $bin/prof ]] || { echo "run.sh: no prof in $bin" >&2; exit 2; }
[[ -e $program ]] || { echo "run.sh: there is no $program" >&2; exit 2; }
mkdir -p "$out"

python3 "$program" --trace "$out/trace.json"

# ncu runs a kernel once per set of counters that fit together, and saves the GPU's memory before: each metric costs time.
# A regex names what only some GPUs have; parts of the metrics named here are left out.
scalar=$(printf 'smsp__sass_thread_inst_executed_op_%s_pred_on.sum,' \
  fadd fmul ffma hadd hmul hfma dadd dmul dfma)
operands='bf16_dst_fp32|fp16|fp16_dst_fp16|fp16_dst_fp32|tf32_dst_fp32|fp64|fp8|int8'
tensor="regex:sm__ops_path_tensor_src_($operands)\.sum"
tensor+=",regex:sm__inst_executed_pipe_tensor(_op_hmma_type_hfma2)?\.sum"
ncu -f -o "$out/ncu" --profile-from-start off --clock-control none \
  --metrics "${scalar}dram__bytes.sum,lts__t_bytes.sum,$tensor" python3 "$program" >"$out/ncu.log"
ncu --import "$out/ncu.ncu-rep" --csv --page raw --print-units base >"$out/ncu.csv"

columns=idx,kernel,op,params,sil,tc,tc_why,role,flops_kind,flops_mma,flops_vec,bytes
"$bin/prof" --csv -c "$columns,measured_flops,core_flops,measured_bytes,l2_bytes,tensor_insts,flops_ratio,bytes_ratio" \
  --counters "$out/ncu.csv" "$out/trace.json" >"$out/prof.csv"
"$bin/prof" --view counters --csv --counters "$out/ncu.csv" "$out/trace.json" >"$out/counters.csv"

python3 "$here/compare.py" "$out/prof.csv" --table "$out/table.md"
