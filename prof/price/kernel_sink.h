#ifndef OPLENS_PROF_PRICE_KERNEL_SINK_H_
#define OPLENS_PROF_PRICE_KERNEL_SINK_H_

#include <cstdint>
#include <optional>

#include "prof/price/priced_kernel.h"

namespace oplens::parse {
class KernelRecords;
}

namespace oplens::prof {

/// Takes priced kernels, one after the other: a table of them, or what makes something of them.
class KernelSink {
 public:
  virtual ~KernelSink() = default;

  /// An input begins. `profile`: what its kernels are records of, until EndInput; null where the
  /// input holds records only.
  virtual void BeginInput(const parse::KernelRecords* profile) { static_cast<void>(profile); }
  /// A kernel; of one input in the order of its records.
  virtual void Add(const PricedKernel& kernel) = 0;
  /// A graph replay whose kernels the file hides, between the kernels of its time: no row of a
  /// table of kernels. Answers whether it is shown.
  virtual bool AddReplay(const PricedKernel& replay) {
    static_cast<void>(replay);
    return false;
  }
  virtual void EndInput() {}
  /// The same of the last input, after which nothing comes; where only that shows it, EndInput.
  virtual void EndLastInput() { EndInput(); }
  /// The step that the kernel counts in, where the sink knows better than what is told of it.
  virtual std::optional<int64_t> StepOf(const PricedKernel& kernel,
                                        std::optional<int64_t> told) const {
    static_cast<void>(kernel);
    return told;
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_KERNEL_SINK_H_
