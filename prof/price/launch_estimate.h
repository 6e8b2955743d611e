#ifndef OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_
#define OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/epochs.h"
#include "ops/kernels/launch_sizes.h"
#include "parse/model/dim3.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// Gives kernels whose op has no price the work that their names and launches tell: docs/costs.md,
/// "Sizes from the launch". Equal launches are computed once; memory: at most 4,096 of them.
class LaunchEstimator {
 public:
  virtual ~LaunchEstimator() = default;

  /// Call after the row's turn has come, before it is shown. What it takes lives as long as a pin
  /// taken after the call and before the next.
  void Estimate(PricedKernel* row);
  Epochs::Pin pin() const { return epochs_.Current(); }

 private:
  /// What the kernels beside it on the stream tell of its elements (ops::ChainedKernel), asked only
  /// if its launch does not tell its FLOPs and bytes.
  virtual std::optional<ops::Bounds> ElementsBeside(const PricedKernel& row) = 0;

  struct Launch {
    int64_t kernel_id = 0;  ///< KernelFacts::id.
    Dim3 grid;
    Dim3 block;
    ops::Bounds elements;  ///< By the kernels beside it; {0, 0}: its launch alone.
    friend bool operator==(const Launch&, const Launch&) = default;
  };
  struct LaunchHash {
    size_t operator()(const Launch& launch) const;
  };

  const ops::LaunchSizes& SizesOf(const PricedKernel& row, const Launch& launch);

  using Sizes = std::unordered_map<Launch, ops::LaunchSizes, LaunchHash>;

  Epochs epochs_;
  Sizes sizes_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_
