#ifndef OPLENS_PARSE_JOIN_LAUNCHED_WORK_H_
#define OPLENS_PARSE_JOIN_LAUNCHED_WORK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/gpu_work.h"
#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

/// The join the other way round: what each range launched. A range launched what was launched
/// inside it on its thread (the origin of a graph's kernel is its capture), the innermost one
/// itself. Ranges that leaked launched nothing.
///
///     |- forward -----------------------|   itself: c; in all: a b c
///     |  |- mm ----------|              |   itself: a b; in all: a b
///     |  |  [a]   [b]    |   [c]        |
///
/// For views only: records do not need it. O((K + R) log K) for K kernels and R ranges, also where
/// ranges cross; 36 bytes a range, 4 a kernel.
class LaunchedWork {
 public:
  struct Sum {
    int64_t kernels = 0;
    /// Sum of the durations of those that have a time; INT64_MAX where it is more.
    int64_t kernel_ns = 0;
  };

  /// `joined` must outlive this object.
  explicit LaunchedWork(const Joined& joined);

  /// Kernels and replays that the range itself launched, in the order of their launches.
  std::span<const WorkIndex> WorkOf(uint32_t range) const {
    return {work_.data() + bounds_[range], bounds_[range + 1] - bounds_[range]};
  }
  /// Of the kernels among them.
  Sum SelfOf(uint32_t range) const;
  /// Of all kernels launched inside the range.
  const Sum& AllOf(uint32_t range) const { return all_[range]; }

 private:
  void FindInnermost();
  void SumInside(ThreadIndex thread);

  const Joined& joined_;
  std::vector<WorkIndex> work_;
  std::vector<size_t> bounds_;  // By range; one more at the end.
  std::vector<Sum> all_;        // By range.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_LAUNCHED_WORK_H_
