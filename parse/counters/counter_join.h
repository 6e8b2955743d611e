#ifndef OPLENS_PARSE_COUNTERS_COUNTER_JOIN_H_
#define OPLENS_PARSE_COUNTERS_COUNTER_JOIN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/counters/counter_table.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// How kernels of profiles were joined with counted ones.
struct CounterTally {
  int64_t kernels = 0;
  int64_t joined = 0;
  int64_t ambiguous = 0;  ///< Several counted kernels fit, and differ.
};

/// Which counted kernel tells of each kernel of a trace: one of the same name, grid and block, in
/// the order of launches (docs/formats.md, "Hardware counters"). O(n).
class CounterJoin {
 public:
  CounterJoin(const CounterTable& table, const Trace& trace);

  /// `kernel`: index in Trace::kernels. Null if none fits, or several that differ.
  const KernelCounters* Of(size_t kernel) const {
    const uint32_t row = rows_[kernel];
    return row == kNone ? nullptr : &table_->kernels[row].counters;
  }
  const CounterTally& tally() const { return tally_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  const CounterTable* table_;
  std::vector<uint32_t> rows_;  // By kernel.
  CounterTally tally_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_COUNTER_JOIN_H_
