#ifndef OPLENS_PROF_PRICE_FIGURES_H_
#define OPLENS_PROF_PRICE_FIGURES_H_

#include <cstdint>
#include <optional>

#include "ops/gpu/roofline.h"
#include "ops/gpu/tensor_core_need.h"
#include "parse/model/reason.h"

namespace oplens::prof {

struct PricedKernel;

/// The work whose rates count under the roofs: measured where the hardware counted it, otherwise
/// modelled: what the op needs. nullopt: unknown.
struct RatedWork {
  std::optional<int64_t> flops;
  /// Of matrix products. Measured: those of Tensor Cores; of a product without any, all.
  std::optional<int64_t> flops_mma;
  std::optional<int64_t> bytes;  ///< Of DRAM.
  bool flops_measured = false;
  bool bytes_measured = false;
};
RatedWork RatedWorkOf(const PricedKernel& row);

/// RatedWork::flops_mma for model FLOPs utilisation: nullopt too where only the launch tells the
/// sizes of a product, which are not exact.
std::optional<int64_t> ModelFlopsOf(const PricedKernel& row);

/// Figures derived from a kernel's charge, time and GPU.
struct Figures {
  ops::TensorCoreJudgement tensor_core;
  ops::Roofline roofline;
  std::optional<double> theoretical_occupancy_pct;
  std::optional<double> waves;
};

/// The figures of a charged row, computed on the first call and stored in the row.
const Figures& FiguresOf(const PricedKernel& row);

/// Whether the kernel uses Tensor Cores: by its name, otherwise by evidence as in Figures.
ops::TensorCoreUse TensorCoreUseOf(const PricedKernel& row);

/// Why the kernel exceeds 100 % of a roof of its GPU (ops::ExcessReasons); mostly empty.
ReasonSet ExcessOf(const PricedKernel& row);

/// The arithmetic roof of a kernel.
struct MathRoof {
  /// The units whose peak applies: those it uses (ops::UnitOf), or, if it could run on Tensor Cores
  /// but does not, the best for its product's types (ops::BestUnitOf). nullopt: unknown, or
  /// communication.
  std::optional<ops::MathUnit> unit;
  int64_t flops = 0;  ///< With Tensor Cores those of matrix products, otherwise all.
};

/// The row's FLOPs must be known.
MathRoof MathRoofOf(const PricedKernel& row);

/// Peak rate (FLOP/s, dense) of the row's GPU for its product's data types: the best of its units,
/// with TF32 for fp32 if available. 0 without a product, or if unknown.
double ProductPeakOf(const PricedKernel& row);

/// The kernel's time if known and not 0.
std::optional<int64_t> TimeOf(const PricedKernel& row);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_FIGURES_H_
