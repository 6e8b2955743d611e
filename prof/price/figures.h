#ifndef OPLENS_PROF_PRICE_FIGURES_H_
#define OPLENS_PROF_PRICE_FIGURES_H_

#include <optional>

#include "ops/gpu/roofline.h"
#include "ops/gpu/tensor_core_need.h"
#include "parse/model/reason.h"

namespace oplens::prof {

struct PricedKernel;

/// What follows from a kernel's charge, its time and its GPU.
struct Figures {
  ops::TensorCoreJudgement tensor_core;
  ops::Roofline roofline;
  std::optional<double> theoretical_occupancy_pct;
  std::optional<double> waves;
};

/// The figures of a row that has its charge. They are computed when they are first asked for, and
/// live in the row.
const Figures& FiguresOf(const PricedKernel& row);

/// Whether the kernel uses Tensor Cores: by its name, else by evidence as in Figures.
ops::TensorCoreUse TensorCoreUseOf(const PricedKernel& row);

/// Why the kernel is above 100 % of a roof of its GPU (ops::ExcessReasons); empty for most.
ReasonSet ExcessOf(const PricedKernel& row);

/// The arithmetic that bounds a kernel from below, as figures have it.
struct MathRoof {
  /// Units whose peak it is held against: that it uses (ops::UnitOf), or where it could run on
  /// Tensor Cores and does not, the best for the types of its product (ops::BestUnitOf). nullopt:
  /// not known, and of communication.
  std::optional<ops::MathUnit> unit;
  int64_t flops = 0;  ///< That count: with Tensor Cores those of matrix products, else all.
};

/// Of a row whose FLOPs are known.
MathRoof MathRoofOf(const PricedKernel& row);

/// The peak rate (FLOP/s, dense) of the row's GPU for the data type of its product: the best of its
/// units, with TF32 for fp32 where there is such. 0 without a product, or where it is not known.
double ProductPeakOf(const PricedKernel& row);

/// The kernel's time, where it is known and not 0.
std::optional<int64_t> TimeOf(const PricedKernel& row);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_FIGURES_H_
