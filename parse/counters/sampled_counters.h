#ifndef OPLENS_PARSE_COUNTERS_SAMPLED_COUNTERS_H_
#define OPLENS_PARSE_COUNTERS_SAMPLED_COUNTERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parse/model/kernel_counters.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What samples of hardware counters of whole GPUs (Trace::counter_samples) tell of single kernels.
///
/// A sample lasts until the next one of its GPU; one that lasts more than 1.5 times as long as the
/// median is taken for several, of which some were lost, and tells nothing. A kernel that ran alone
/// on its GPU (no other kernel, copy or memset at any of its moments) has the sum of the samples
/// that lie whole inside of it, times its duration over theirs; percentages are the mean over
/// their time. It has none if they cover less than half of it. O(n log n) in kernels and samples.
class SampledCounters {
 public:
  explicit SampledCounters(const Trace& trace);

  /// `kernel`: index in Trace::kernels. Null if no samples tell of it.
  const KernelCounters* Of(size_t kernel) const {
    if (rows_.empty() || rows_[kernel] == kNone) return nullptr;
    return &counters_[rows_[kernel]];
  }
  /// Number of kernels that samples tell of.
  size_t told_count() const { return counters_.size(); }
  /// The sentence for readers of the result; "" without samples.
  std::string Sentence() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<uint32_t> rows_;  // By kernel; empty without samples.
  std::vector<KernelCounters> counters_;
  std::vector<std::string> unread_;  // Metrics that no figure comes from.
  bool any_ = false;                 // The file has samples.
  int64_t kernel_count_ = 0;
  int64_t interval_ns_ = 0;  // Median, of the first GPU.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_SAMPLED_COUNTERS_H_
