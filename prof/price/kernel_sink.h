#ifndef OPLENS_PROF_PRICE_KERNEL_SINK_H_
#define OPLENS_PROF_PRICE_KERNEL_SINK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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
  /// A kernel or replay until a sink looks at it.
  struct HeldRow {
    const PricedKernel* row;
    bool selected;  ///< By the sink.
  };
  using HeldRows = std::vector<HeldRow>;

  /// Asked after BeginInput(). 0: a row's turn ends with its call. Otherwise the sink only holds
  /// the kernels and replays of the input, and looks at them in so many lanes: the caller keeps
  /// them until Look() for each lane was called.
  virtual size_t Lanes() { return 0; }
  /// Puts all rows that were added since the last call into `rows`, in place of what is there.
  virtual void TakeHeld(HeldRows* rows) { rows->clear(); }
  /// A lane looks at them: in the order of the calls of TakeHeld(), in any thread, beside other
  /// lanes for other rows and beside calls for later rows.
  virtual void Look(size_t lane, const HeldRows& rows) {
    static_cast<void>(lane);
    static_cast<void>(rows);
  }
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
