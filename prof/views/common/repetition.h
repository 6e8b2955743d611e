#ifndef OPLENS_PROF_VIEWS_COMMON_REPETITION_H_
#define OPLENS_PROF_VIEWS_COMMON_REPETITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id_map.h"
#include "parse/model/kernel_record.h"
#include "prof/run/host_steps.h"

namespace oplens::prof {

/// Finds the steps of a run that names none: the same kernels, by full name and grid, in the same
/// order, over and over until the end (FindRepetition). One GPU of one rank only: kernels of
/// several interleave by chance.
///
/// Several that group the same kernels, each by other keys, may share one: each says of every
/// kernel which of its own groups that is in, in the order of their places.
class RepetitionFinder {
 public:
  explicit RepetitionFinder(size_t places = 1) : groups_(places) {}

  /// Remembers a kernel that is in this group of the one at `place`: 12 bytes each.
  void Add(const KernelRecord& record, uint32_t group, size_t place = 0);

  /// The repetition with the most kernels and of these the shortest; nullopt without one, or after
  /// more than kMaxKernels kernels. Linear time, the first time.
  std::optional<Repetition> Find();

  /// Calls f(group, duration in ns) for each timed kernel of what Find() found; the group is that
  /// of the one at `place`.
  template <typename F>
  void ForEachRepeated(const Repetition& repetition, size_t place, F f) const {
    const auto size = static_cast<size_t>(repetition.period * repetition.count);
    for (size_t i = kernels_.size() - size; i < kernels_.size(); ++i) {
      f(kind_groups_[kernels_[i] * groups_.size() + place], durations_ns_[i]);
    }
  }

  static constexpr size_t kMaxKernels = size_t{1} << 20;

 private:
  /// Gives up: nothing can be found any more.
  void Stop();

  std::vector<uint32_t> groups_;   // Of the kernel at hand, by place.
  std::vector<uint32_t> kernels_;  // Their kinds: those of a kind are alike but for their times.
  std::vector<int64_t> durations_ns_;  // By kernel.
  std::vector<uint64_t> whats_;        // By kind: a hash of name and grid,
  std::vector<uint32_t> kind_groups_;  // and its groups, by place.
  IdMap kind_of_;                      // By a hash of both.
  std::optional<Repetition> found_;
  bool searched_ = false;
  std::string rank_;
  int64_t device_id_ = 0;
  bool stopped_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_REPETITION_H_
