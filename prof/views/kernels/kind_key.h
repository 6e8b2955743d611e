#ifndef OPLENS_PROF_VIEWS_KERNELS_KIND_KEY_H_
#define OPLENS_PROF_VIEWS_KERNELS_KIND_KEY_H_

#include <string>
#include <string_view>

#include "prof/price/priced_kernel.h"
#include "prof/table/columns.h"

namespace oplens::prof {

/// Tells kernels apart by what several summaries group them by: kernels of equal bytes are in the
/// same group of each, but for those that group by what differs from step to step. Otherwise a long
/// run has too many kinds.
class KindKey {
 public:
  /// Whether values of this column tell the steps of a run apart: `step`, and `range`, since names
  /// of steps are ranges.
  static bool IsOfSteps(const Column<PricedKernel>& key);

  void TellApartBy(const Columns<PricedKernel>& keys);
  /// Valid until the next call. Also of the kernel's name and grid, by which repetitions are found.
  std::string_view Of(const PricedKernel& kernel);

 private:
  void Append(const Columns<PricedKernel>& columns, const PricedKernel& kernel);

  Columns<PricedKernel> columns_;
  Columns<PricedKernel> of_steps_;  // Of kernels without a step.
  std::string bytes_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_KIND_KEY_H_
