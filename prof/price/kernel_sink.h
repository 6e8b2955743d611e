#ifndef OPLENS_PROF_PRICE_KERNEL_SINK_H_
#define OPLENS_PROF_PRICE_KERNEL_SINK_H_

#include <cstdint>
#include <optional>

#include "prof/price/priced_kernel.h"

namespace oplens::parse {
class KernelRecords;
}

namespace oplens::prof {

/// Consumes priced kernels one by one, e.g. to print or aggregate them.
class KernelSink {
 public:
  virtual ~KernelSink() = default;

  /// Starts an input. `profile`: source of its kernels until EndInput; null for files of records.
  virtual void BeginInput(const parse::KernelRecords* profile) { static_cast<void>(profile); }
  /// A kernel, in the order of the input's records.
  virtual void Add(const PricedKernel& kernel) = 0;
  /// A graph replay whose kernels the file hides, ordered by time among the kernels; it is no row
  /// of a table of kernels. Returns whether it is shown.
  virtual bool AddReplay(const PricedKernel& replay) {
    static_cast<void>(replay);
    return false;
  }
  /// Whether the sink looks at kernels and replays of the current input again from Flush() on.
  /// Asked after BeginInput() by callers that keep them until then; otherwise a row's turn ends
  /// with its call.
  virtual bool HoldsRows() { return false; }
  /// Looks at all that were added since the last call, beside what the caller does next: they must
  /// stay as they are until the next call, or Settle(), returns. Throws what looking at earlier
  /// ones threw.
  virtual void Flush() {}
  /// Waits until none is looked at. Called before the input ends, and before rows are freed.
  virtual void Settle() {}
  virtual void EndInput() {}
  /// Ends the last input, after which no call follows.
  virtual void EndLastInput() { EndInput(); }
  /// The step that the kernel counts in, for sinks that know better than the recorded one.
  virtual std::optional<int64_t> StepOf(const PricedKernel& kernel,
                                        std::optional<int64_t> told) const {
    static_cast<void>(kernel);
    return told;
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_KERNEL_SINK_H_
