#include "prof/price/figures.h"

#include "base/checked.h"
#include "ops/dtype.h"
#include "prof/price/row.h"

namespace oplens::prof {
namespace {

/// Of a block; nullopt where the profile tells one kind only.
std::optional<int64_t> SharedMemoryOf(const KernelRecord& record) {
  if (record.shared_memory_bytes) return record.shared_memory_bytes;
  if (!record.static_shared_memory_bytes || !record.dynamic_shared_memory_bytes) {
    return std::nullopt;
  }
  return (Checked(*record.static_shared_memory_bytes) + *record.dynamic_shared_memory_bytes)
      .Value();
}

void FillLaunch(const Row& row, Figures* figures) {
  const KernelRecord& record = *row.record;
  const std::optional<int64_t> shared = SharedMemoryOf(record);
  if (row.gpu == nullptr || !record.registers_per_thread || !shared) return;
  const ops::Launch launch{record.grid, record.block, *record.registers_per_thread, *shared};
  figures->occupancy_percent = ops::TheoreticalOccupancy(row.gpu->compute_capability, launch);
  figures->waves = ops::Waves(*row.gpu, launch);
}

ops::DType TypeOf(const Row& row) {
  if (row.price != nullptr && row.price->product &&
      row.price->product->left != ops::DType::kUnknown) {
    return row.price->product->left;
  }
  if (row.dtype.empty()) return ops::DType::kUnknown;
  return ops::ParseDType(row.dtype).value_or(ops::DType::kUnknown);
}

Figures Compute(const Row& row) {
  Figures figures;
  const ops::TensorCoreVerdict by_use{row.tensor_core, {}, {}};
  ops::TensorCoreCase judged;
  judged.long_name = row.record->long_name;
  judged.verdict = row.verdict != nullptr ? row.verdict : &by_use;
  judged.op = row.price;
  judged.role = row.share.role;
  judged.gpu = row.gpu;
  judged.dtype = TypeOf(row);
  judged.extents = row.extents;
  judged.flops_mma = row.share.flops_mma;
  judged.duration_ns = TimeOf(row);
  figures.tensor_core = ops::JudgeTensorCore(judged);

  ops::RooflineCase charged;
  charged.long_name = judged.long_name;
  if (row.price != nullptr) charged.op_class = row.price->op_class;
  charged.dtype = judged.dtype;
  charged.flops = row.share.flops;
  charged.flops_mma = row.share.flops_mma;
  charged.bytes = row.share.bytes;
  charged.duration_ns = judged.duration_ns;
  charged.uses_tensor_cores = figures.tensor_core.use == ops::TensorCoreUse::kYes;
  charged.math = figures.tensor_core.math;
  charged.half_sums = judged.verdict->half_sums;
  charged.gpu = row.gpu;
  figures.roofline = ops::RooflineOf(charged);
  FillLaunch(row, &figures);
  return figures;
}

}  // namespace

const Figures& FiguresOf(const Row& row) {
  if (!row.figures) row.figures = Compute(row);
  return *row.figures;
}

ops::TensorCoreUse TensorCoreUseOf(const Row& row) {
  if (row.tensor_core != ops::TensorCoreUse::kUnknown) return row.tensor_core;
  return FiguresOf(row).tensor_core.use;
}

double ProductPeakOf(const Row& row) {
  if (row.gpu == nullptr || row.share.flops_mma.value_or(0) <= 0) return 0;
  const ops::DType left = TypeOf(row);
  const bool has_right = row.price != nullptr && row.price->product &&
                         row.price->product->right != ops::DType::kUnknown;
  return ops::BestPeakOf(*row.gpu, left, has_right ? row.price->product->right : left);
}

std::optional<int64_t> TimeOf(const Row& row) {
  const KernelRecord& record = *row.record;
  if (!record.timed() || record.duration_ns <= 0) return std::nullopt;
  return record.duration_ns;
}

}  // namespace oplens::prof
