#ifndef OPLENS_PROF_COMPAT_TB_RANKS_H_
#define OPLENS_PROF_COMPAT_TB_RANKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "prof/run/interval_set.h"
#include "prof/run/step.h"
#include "prof/views/rank_order.h"

namespace oplens::prof {

class Run;

/// A collective as the TensorBoard plugin sees it: a range of a name that it knows
/// (IsTensorBoardCollective), or its shadow on the GPU, and the kernels with its external id.
struct TbCollective {
  std::string name;
  Interval range;
  std::vector<Interval> ranges;  ///< The range and the kernels, by start, longer ones first.
  int64_t size_bytes = 0;        ///< Of its inputs; of types that the plugin does not know 0.
  std::optional<size_t> step;    ///< Place in `steps` of the step that holds it.
};

/// A step with the chart's four parts.
struct StepParts {
  int64_t number = 0;
  int64_t total_ns = 0;
  int64_t computation_ns = 0;
  int64_t overlap_ns = 0;
  int64_t communication_ns = 0;
};

/// One profile of a rank.
struct TbRecording {
  std::vector<StepParts> steps;
  std::vector<TbCollective> calls;
  bool communicates = false;  ///< Something is communication by the plugin's rules.
};

/// What the distributed page of the TensorBoard plugin is made of.
class TbRanks {
 public:
  void Add(const Run& run);
  void Merge(const TbRanks& other);

  /// Why the plugin shows nothing; "" where it does.
  std::string Refusal() const;

  /// How long the transfer of each range of each call is: as the shortest of all ranks. Ranks must
  /// not be refused.
  using Transfers = std::vector<std::vector<int64_t>>;  // By call and range.
  Transfers ShortestOf() const;

  using Ranks = std::map<std::string, std::vector<TbRecording>, RankBefore>;
  const Ranks& ranks() const { return ranks_; }

 private:
  Ranks ranks_;
};

/// Some calls of a rank: how long any of their ranges lasted, and any of their transfers, each at
/// the end of its range.
struct TbLengths {
  std::vector<Interval> ranges;
  std::vector<Interval> transfers;
  int64_t calls = 0;
  int64_t size_bytes = 0;

  /// `shortest`: of the call, as ShortestOf says.
  void Add(const TbCollective& call, const std::vector<int64_t>& shortest);
  int64_t latency_ns() const { return IntervalSet(ranges).length_ns(); }
  int64_t transfer_ns() const { return IntervalSet(transfers).length_ns(); }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TB_RANKS_H_
