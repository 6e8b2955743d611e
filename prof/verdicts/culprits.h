#ifndef OPLENS_PROF_VERDICTS_CULPRITS_H_
#define OPLENS_PROF_VERDICTS_CULPRITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/verdicts/rank_load.h"

namespace oplens::prof {

/// Why a run of several ranks is slow, or why its figures are not those of one run. In the order in
/// which rows are shown where they cost alike.
enum class CulpritCause : uint8_t {
  // What is wrong with the files:
  kMissingRank,
  kTwice,     ///< Several files say that they are one rank.
  kOtherRun,  ///< Files of another run.
  kFewerSteps,
  kOtherWork,  ///< Other FLOPs than its peers: compared with none.
  // What is slow:
  kSlowOp,
  kSlowLayer,
  kSlowGpu,
  kSlowNode,
  kSlowCompute,  ///< Several ops, but not all.
  kDataLoader,
  kGarbage,
  kCheckpoint,
  kAllocator,
  kCopies,
  kHost,
  kLate,  ///< Others wait for it, and nothing of its own shows why.
  kNetwork,
};

/// "missing", "slow op", "data loader", ...
std::string_view CulpritWord(CulpritCause cause);
/// Whether it is about the files, not about time.
constexpr bool IsAboutFiles(CulpritCause cause) { return cause < CulpritCause::kSlowOp; }

/// One culprit. Times in ns per step.
struct Culprit {
  std::string who;  ///< "rank 3", "ranks 3, 5", "node h1", "data [0, 2]".
  CulpritCause cause = CulpritCause::kHost;
  std::string what;                   ///< "aten::mm +48 %"; "" if the cause says all.
  std::optional<int64_t> since_step;  ///< nullopt: intermittent, or not about time.
  bool grows = false;                 ///< More from step to step.
  std::vector<int64_t> slow_steps;    ///< If intermittent: their numbers.
  size_t steps = 0;                   ///< Number of steps that were compared.
  bool tested = false;                ///< Chance does not explain it.
  /// Mean over the compared steps: at most what the run would save. nullopt: unknown.
  std::optional<int64_t> cost_ns;
  double cost_share = 0;          ///< cost_ns over the mean step.
  std::optional<size_t> waiters;  ///< Ranks that wait for it, through others too.
  std::vector<size_t> ranks;      ///< Indices of the ranks that it is about.
};

/// A rank with what is derived from its groups.
struct CulpritRank {
  std::string name;
  const RankLoad* load = nullptr;
  int64_t stage = -1;                              ///< Of the pipeline; -1: unknown.
  std::string node;                                ///< As shown: "h0"; "": unknown.
  std::map<std::string, std::string> group_kinds;  ///< By the key of RankLoad::groups.
};

/// The culprits of a run: those about files first, then the costliest. Compares what is a rank's
/// own, which does not pass from rank to rank (docs/views_distributed.md, "culprits"). O(n log n)
/// in the times of all ranks.
std::vector<Culprit> FindCulprits(const std::vector<CulpritRank>& ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_CULPRITS_H_
