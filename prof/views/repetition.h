#ifndef OPLENS_PROF_VIEWS_REPETITION_H_
#define OPLENS_PROF_VIEWS_REPETITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id_map.h"
#include "parse/model/kernel_record.h"
#include "prof/run/repetition.h"

namespace oplens::prof {

/// Finds the steps of a run that names none: the same kernels, by full name and grid, in the same
/// order, over and over until the end (FindRepetition). One GPU of one rank only: kernels of
/// several interleave by chance.
class RepetitionFinder {
 public:
  /// Remembers a kernel of the group with this number: 12 bytes each.
  void Add(const KernelRecord& record, uint32_t group);

  /// The repetition with the most kernels and of these the shortest; nullopt without one, or after
  /// more than kMaxKernels kernels. Linear time.
  std::optional<Repetition> Find() const;

  /// Calls f(group, duration in ns) for each timed kernel of what Find() found.
  template <typename F>
  void ForEachRepeated(const Repetition& repetition, F f) const {
    const auto size = static_cast<size_t>(repetition.period * repetition.count);
    for (size_t i = kernels_.size() - size; i < kernels_.size(); ++i) {
      f(kinds_[kernels_[i]].group, durations_ns_[i]);
    }
  }

  static constexpr size_t kMaxKernels = size_t{1} << 20;

 private:
  /// Kernels that are alike but for their times.
  struct Kind {
    uint64_t what = 0;  // A hash of name and grid.
    uint32_t group = 0;
  };

  /// Gives up: nothing can be found any more.
  void Stop();

  std::vector<uint32_t> kernels_;      // Their kinds.
  std::vector<int64_t> durations_ns_;  // By kernel.
  std::vector<Kind> kinds_;
  IdMap kind_of_;  // By a hash of both.
  std::string rank_;
  int64_t device_id_ = 0;
  bool stopped_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_REPETITION_H_
