#ifndef OPLENS_PROF_VIEWS_KERNEL_PRICES_H_
#define OPLENS_PROF_VIEWS_KERNEL_PRICES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "parse/model/trace.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/views/operator_sums.h"

namespace oplens::prof {

/// What sums over operators take of priced kernels, kept until all came, so that several sums can
/// be made one after the other. 32 bytes a kernel.
class KernelPrices {
 public:
  struct Price {
    int64_t flops = 0;
    int64_t bytes = 0;
    int64_t known_ns = 0;  ///< Its time, where it is known whether it uses Tensor Cores.
    uint32_t kernel = 0;   ///< Place in Trace::kernels.
    bool with_flops = false;
    bool with_bytes = false;
    bool tensor_core = false;
    uint8_t fitness = 0;  ///< As in KernelTime.

    /// Without `device_ns`.
    KernelTime Time() const {
      return {
          .tensor_core_ns = tensor_core ? known_ns : 0, .known_ns = known_ns, .fitness = fitness};
    }
  };

  /// `run` must outlive this object.
  explicit KernelPrices(const Run& run)
      : run_(run), product_names_(run.trace().strings.size(), uint8_t{0}) {}

  /// Each kernel comes once at most.
  void Add(const PricedKernel& kernel);
  /// In the order in which they came.
  std::span<const Price> all() const { return prices_; }

 private:
  bool IsNamedProduct(const PricedKernel& kernel);

  const Run& run_;
  std::vector<Price> prices_;
  std::vector<uint8_t> product_names_;  // By StringId of a kernel: 0 not asked, 1 no, 2 yes.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNEL_PRICES_H_
