#ifndef OPLENS_PROF_VIEWS_REPETITION_H_
#define OPLENS_PROF_VIEWS_REPETITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parse/model/kernel_record.h"
#include "prof/run/repetition.h"

namespace oplens::prof {

/// Finds the steps of a run that names none: the same kernels, by full name and grid, in the same
/// order, over and over until the end (FindRepetition). One GPU of one rank only: kernels of
/// several interleave by chance.
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

  static constexpr size_t kMaxKernels = size_t{1} << 20;

 private:
  struct Kernel {
    int64_t duration_ns = 0;
    uint32_t group = 0;
  };

  /// Gives up: nothing can be found any more.
  void Stop();

  std::vector<uint64_t> whats_;  // By kernel: a hash of name and grid.
  std::vector<Kernel> kernels_;
  std::string rank_;
  int64_t device_id_ = 0;
  bool stopped_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_REPETITION_H_
