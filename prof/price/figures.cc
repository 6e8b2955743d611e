#include "prof/price/figures.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/dtype.h"
#include "ops/gpu/roofline.h"
#include "ops/kernels/kernel_name.h"
#include "parse/model/kernel_counters.h"
#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {
namespace {

/// Per block; nullopt if only one of its two kinds is recorded.
std::optional<int64_t> FiguresSharedMemoryOf(const KernelRecord& record) {
  if (record.shared_memory_bytes) return record.shared_memory_bytes;
  if (!record.static_shared_memory_bytes || !record.dynamic_shared_memory_bytes) {
    return std::nullopt;
  }
  return (Checked(*record.static_shared_memory_bytes) + *record.dynamic_shared_memory_bytes)
      .Value();
}

void FillLaunch(const PricedKernel& row, Figures* figures) {
  const KernelRecord& record = *row.record;
  const std::optional<int64_t> shared = FiguresSharedMemoryOf(record);
  if (row.gpu == nullptr || !record.registers_per_thread || !shared) return;
  const ops::Launch launch{record.grid, record.block, *record.registers_per_thread, *shared};
  figures->theoretical_occupancy_pct =
      ops::TheoreticalOccupancy(row.gpu->compute_capability, launch);
  figures->waves = ops::Waves(*row.gpu, launch);
}

ops::DType FiguresTypeOf(const PricedKernel& row) {
  if (row.price != nullptr && row.price->product &&
      row.price->product->left != ops::DType::kUnknown) {
    return row.price->product->left;
  }
  if (row.dtype.empty()) return ops::DType::kUnknown;
  return ops::ParseDType(row.dtype).value_or(ops::DType::kUnknown);
}

/// The type of the product's right factor, or of the left if unknown.
ops::DType RightOf(const PricedKernel& row) {
  const bool has_right = row.price != nullptr && row.price->product &&
                         row.price->product->right != ops::DType::kUnknown;
  return has_right ? row.price->product->right : FiguresTypeOf(row);
}

/// A product on an AMD GPU of which it is unknown whether it ran on the matrix cores.
bool IsOpenProductOfAmd(const PricedKernel& row, const ops::TensorCoreJudgement& judged) {
  return row.gpu != nullptr && row.gpu->maker == ops::Maker::kAmd && row.price != nullptr &&
         row.price->matmul_like && judged.use == ops::TensorCoreUse::kUnknown;
}

/// The charge with what is known about Tensor Core use.
ops::RooflineCase ChargeOf(const PricedKernel& row, const ops::TensorCoreJudgement& judged) {
  ops::RooflineCase charged;
  charged.long_name = row.record->long_name;
  if (row.price != nullptr) charged.op_class = row.price->op_class;
  charged.dtype = FiguresTypeOf(row);
  const RatedWork work = RatedWorkOf(row);
  charged.flops = work.flops;
  charged.flops_mma = work.flops_mma;
  charged.bytes = work.bytes;
  charged.duration_ns = TimeOf(row);
  charged.uses_tensor_cores = judged.use == ops::TensorCoreUse::kYes;
  charged.math = judged.math;
  charged.unit_open = IsOpenProductOfAmd(row, judged);
  charged.half_sums = row.verdict != nullptr && row.verdict->half_sums;
  charged.gpu = row.gpu;
  return charged;
}

Figures Compute(const PricedKernel& row) {
  Figures figures;
  const ops::TensorCoreVerdict by_use{row.tensor_core, {}, {}};
  ops::TensorCoreCase judged;
  judged.long_name = row.record->long_name;
  judged.verdict = row.verdict != nullptr ? row.verdict : &by_use;
  judged.op = row.price;
  judged.role = row.share.role;
  judged.gpu = row.gpu;
  judged.dtype = FiguresTypeOf(row);
  judged.extents = row.extents;
  judged.flops_mma = row.share.flops_mma;
  judged.duration_ns = TimeOf(row);
  if (row.facts != nullptr) judged.kind = row.facts->named_kind();
  figures.tensor_core = ops::JudgeTensorCore(judged);
  if (figures.tensor_core.use == ops::TensorCoreUse::kUnknown && row.counters != nullptr &&
      row.counters->tensor_instructions) {
    const bool counted = *row.counters->tensor_instructions > 0;
    figures.tensor_core.use = counted ? ops::TensorCoreUse::kYes : ops::TensorCoreUse::kNo;
  }

  figures.roofline = ops::RooflineOf(ChargeOf(row, figures.tensor_core));
  FillLaunch(row, &figures);
  return figures;
}

/// Whether some rate of the kernel exceeds its GPU's lowest roof. Most do not and need no figures.
bool MayExceed(const PricedKernel& row, int64_t time_ns) {
  const double seconds = static_cast<double>(time_ns) * 1e-9;
  const RatedWork work = RatedWorkOf(row);
  const auto bytes = static_cast<double>(work.bytes.value_or(0));
  const auto dram = static_cast<double>(row.gpu->dram_bytes_per_s);
  if (dram > 0 && bytes > dram * seconds) return true;
  const auto flops = static_cast<double>(work.flops.value_or(0));
  return std::any_of(row.gpu->peaks_per_s.begin(), row.gpu->peaks_per_s.end(),
                     [&](double peak) { return peak > 0 && flops > peak * seconds; });
}

/// With a finer clock, one kernel in a million passes by chance.
bool HasWholeMicroseconds(const KernelRecord& record) {
  constexpr int64_t kMicrosecondNs = 1000;
  return record.start_ns && record.end_ns && *record.start_ns % kMicrosecondNs == 0 &&
         *record.end_ns % kMicrosecondNs == 0;
}

/// Elements of a convolution's filter: no algorithm saves a larger factor of the products.
double TapsOf(const ops::MatrixProduct& product) {
  double channels = 1;
  for (const ops::NamedExtent& extent : product.extents) {
    channels *= static_cast<double>(extent.extent);
  }
  const double products = static_cast<double>(product.n) * static_cast<double>(product.k);
  return channels > 0 ? products / channels : 1;
}

}  // namespace

RatedWork RatedWorkOf(const PricedKernel& row) {
  RatedWork work{row.share.flops, row.share.flops_mma, row.share.bytes};
  if (row.counters == nullptr) return work;
  if (const std::optional<int64_t> flops = row.counters->flops()) {
    work.flops = flops;
    const bool on_cores = *row.counters->tensor_flops == 0;
    const bool is_product = row.share.flops_mma.value_or(0) > 0;
    work.flops_mma = on_cores && is_product ? flops : row.counters->tensor_flops;
    work.flops_measured = true;
  }
  if (row.counters->dram_bytes) {
    work.bytes = row.counters->dram_bytes;
    work.bytes_measured = true;
  }
  return work;
}

std::optional<int64_t> ModelFlopsOf(const PricedKernel& row) {
  const RatedWork work = RatedWorkOf(row);
  const bool estimated = row.sizes_by_launch && !work.flops_measured;
  return estimated && work.flops_mma.value_or(0) > 0 ? std::nullopt : work.flops_mma;
}

const Figures& FiguresOf(const PricedKernel& row) {
  if (!row.figures) row.figures = Compute(row);
  return *row.figures;
}

ops::TensorCoreUse TensorCoreUseOf(const PricedKernel& row) {
  if (row.tensor_core != ops::TensorCoreUse::kUnknown) return row.tensor_core;
  return FiguresOf(row).tensor_core.use;
}

ReasonSet ExcessOf(const PricedKernel& row) {
  const std::optional<int64_t> time = TimeOf(row);
  if (row.gpu == nullptr || !time) return {};
  if (row.price != nullptr && row.price->op_class == ops::OpClass::kCollective) {
    const int64_t bytes = row.share.bytes.value_or(0);
    return ops::LinkReasons({row.gpu, bytes, *time, HasWholeMicroseconds(*row.record)});
  }
  if (!MayExceed(row, *time)) return {};
  ops::ExcessCase kernel;
  kernel.roofline = &FiguresOf(row).roofline;
  kernel.gpu = row.gpu;
  const RatedWork work = RatedWorkOf(row);
  kernel.bytes = work.bytes.value_or(0);
  kernel.duration_ns = *time;
  kernel.whole_microseconds = HasWholeMicroseconds(*row.record);
  if (row.share.fast_convolution && !work.flops_measured)
    kernel.fewer_flops = TapsOf(*row.price->product);
  if (row.price != nullptr && row.price->source_bytes && ops::ReadsStrided(row.record->long_name)) {
    kernel.repeated_bytes = row.price->source_bytes->Value().value_or(0);
  }
  return ops::ExcessReasons(kernel);
}

MathRoof MathRoofOf(const PricedKernel& row) {
  MathRoof roof;
  if (row.price != nullptr && row.price->op_class == ops::OpClass::kCollective) return roof;
  // No judgement for kernels that are not products and by name on CUDA cores.
  const bool product = row.price == nullptr || row.price->matmul_like;
  const bool judge = product || row.tensor_core != ops::TensorCoreUse::kNo;
  const ops::TensorCoreJudgement plain;
  const ops::TensorCoreJudgement& judged = judge ? FiguresOf(row).tensor_core : plain;
  const RatedWork work = RatedWorkOf(row);
  const int64_t mma = work.flops_mma.value_or(0);
  roof.flops = work.flops.value_or(0);
  if (judged.use == ops::TensorCoreUse::kYes) {
    roof.unit = ops::UnitOf(ChargeOf(row, judged));
    roof.flops = mma;
  } else if ((judged.fitness == ops::TensorCoreFitness::kYes || IsOpenProductOfAmd(row, judged)) &&
             row.gpu != nullptr && mma > 0) {
    roof.unit = ops::BestUnitOf(*row.gpu, FiguresTypeOf(row), RightOf(row));
    roof.flops = mma;
  } else {
    ops::RooflineCase charged = ChargeOf(row, judged);
    if (!judge) charged.long_name = {};  // Only products use packed arithmetic.
    roof.unit = ops::UnitOf(charged);
  }
  return roof;
}

double ProductPeakOf(const PricedKernel& row) {
  if (row.gpu == nullptr || ModelFlopsOf(row).value_or(0) <= 0) return 0;
  return ops::BestPeakOf(*row.gpu, FiguresTypeOf(row), RightOf(row));
}

std::optional<int64_t> TimeOf(const PricedKernel& row) {
  const KernelRecord& record = *row.record;
  if (!record.timed() || record.duration_ns <= 0) return std::nullopt;
  return record.duration_ns;
}

}  // namespace oplens::prof
