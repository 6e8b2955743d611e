#ifndef OPLENS_PROF_VIEWS_KERNELS_KIND_KEY_H_
#define OPLENS_PROF_VIEWS_KERNELS_KIND_KEY_H_

#include <string>
#include <string_view>

#include "prof/price/priced_kernel.h"
#include "prof/table/columns.h"

namespace oplens::prof {

/// Tells kernels apart by what several summaries group them by: kernels of equal bytes are in the
/// same group of each. Steps are left out: a run has too many.
class KindKey {
 public:
  void TellApartBy(const Columns<PricedKernel>& keys);
  /// Valid until the next call. Also of the kernel's name and grid, by which repetitions are found.
  std::string_view Of(const PricedKernel& kernel);

 private:
  Columns<PricedKernel> columns_;
  std::string bytes_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_KIND_KEY_H_
