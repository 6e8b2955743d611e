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

/// Finds the steps of a run that names none: a sequence of kernels, by full name and grid, that
/// repeats until the end (FindRepetition). Works for one GPU of one rank only: kernels of several
/// interleave at random.
///
/// Several users that group the same kernels by different keys may share a finder: each has a
/// place, and adds every kernel with its own group, in order of places.
class RepetitionFinder {
 public:
  explicit RepetitionFinder(size_t places = 1) : groups_(places) {}

  static constexpr uint32_t kNone = UINT32_MAX;

  /// Adds a kernel and its group for the user at `place`: 12 bytes each. The last place gets the
  /// number of the kernel's kind; others, and all after kernels that cannot repeat, get kNone.
  uint32_t Add(const KernelRecord& record, uint32_t group, size_t place = 0);
  /// Instead, once for all places: a kernel of a kind that Add() gave the number of, that is of the
  /// same WhatOf() and the same group at every place.
  void AddAlike(const KernelRecord& record, uint32_t kind);
  /// A hash of what repeats: the full name and the grid.
  static uint64_t WhatOf(const KernelRecord& record);

  /// The repetition with the most kernels, of these the shortest; nullopt without one, or after
  /// more than kMaxKernels kernels. The first call takes linear time.
  std::optional<Repetition> Find();

  /// Calls f(group at `place`, duration in ns) for each timed kernel of the repetition.
  template <typename F>
  void ForEachRepeated(const Repetition& repetition, size_t place, F f) const {
    const auto size = static_cast<size_t>(repetition.period * repetition.count);
    for (size_t i = kernels_.size() - size; i < kernels_.size(); ++i) {
      f(kind_groups_[kernels_[i] * groups_.size() + place], durations_ns_[i]);
    }
  }

  static constexpr size_t kMaxKernels = size_t{1} << 20;

 private:
  void Stop();
  /// Whether the kernel can be part of a repetition; if not, none is looked for.
  bool Takes(const KernelRecord& record);

  std::vector<uint32_t> groups_;       // Of the current kernel, by place.
  std::vector<uint32_t> kernels_;      // Their kinds: kernels of a kind differ in their times only.
  std::vector<int64_t> durations_ns_;  // By kernel.
  std::vector<uint64_t> whats_;        // By kind: hash of name and grid,
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
