#ifndef OPLENS_PROF_VIEWS_REPETITION_H_
#define OPLENS_PROF_VIEWS_REPETITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parse/model/kernel_record.h"

namespace oplens::prof {

/// The kernels at the end of a run: `count` times the same sequence of `period` kernels.
struct Repetition {
  int64_t period = 0;
  int64_t count = 0;
};

/// Finds the steps of a run that names none: the same kernels, by full name and grid, in the same
/// order, over and over until the end. What came before (loading, warming up) may differ. It must
/// be at least kLeastCount times, at least half of all kernels, and more than one kernel, so
/// that no loop inside a step passes for the steps. One GPU of one rank only: kernels of several
/// interleave by chance.
class RepetitionFinder {
 public:
  /// Remembers a kernel of the group with this number: 24 bytes each.
  void Add(const KernelRecord& record, uint32_t group);

  /// The repetition with the most kernels and of these the shortest; nullopt without one, or after
  /// more than kMaxKernels kernels. Linear time.
  std::optional<Repetition> Find() const;

  /// Calls f(group, duration in ns) for each timed kernel of what Find() found.
  template <typename F>
  void ForEachRepeated(const Repetition& repetition, F f) const {
    const auto size = static_cast<size_t>(repetition.period * repetition.count);
    for (size_t i = kernels_.size() - size; i < kernels_.size(); ++i) {
      f(kernels_[i].group, kernels_[i].duration_ns);
    }
  }

  static constexpr int64_t kLeastCount = 3;
  static constexpr size_t kMaxKernels = size_t{1} << 20;

 private:
  struct Kernel {
    uint64_t what = 0;  // A hash of name and grid.
    int64_t duration_ns = 0;
    uint32_t group = 0;
  };

  /// Gives up: nothing can be found any more.
  void Stop();

  std::vector<Kernel> kernels_;
  std::string rank_;
  int64_t device_id_ = 0;
  bool stopped_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_REPETITION_H_
