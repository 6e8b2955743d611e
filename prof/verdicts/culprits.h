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

/// An op or a layer that is slow. Times in ns per step, means over the slow steps.
struct SlowPlace {
  std::string op;     ///< "": all ops of the layer.
  std::string layer;  ///< "": all layers.
  int64_t own_ns = 0;
  int64_t usual_ns = 0;  ///< The median of the others.
};

/// One culprit. Times in ns per step.
struct Culprit {
  std::string who;  ///< "rank 3", "ranks 3, 5", "node h1", "data [0, 2]".
  CulpritCause cause = CulpritCause::kHost;
  std::string what;                   ///< "aten::mm +48 %"; "" if the cause says all.
  std::optional<SlowPlace> slow;      ///< The one that costs most, if it computes longer.
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

/// "tested", "not tested over steps".
constexpr std::string_view TestWord(const Culprit& culprit) {
  return culprit.tested ? "tested" : "not tested over steps";
}

/// A rank with what is derived from its groups.
struct CulpritRank {
  std::string name;
  const RankLoad* load = nullptr;
  int64_t stage = -1;                              ///< Of the pipeline; -1: unknown.
  std::string node;                                ///< As shown: "h0"; "": unknown.
  std::map<std::string, std::string> group_kinds;  ///< By the key of RankLoad::groups.
};

/// What is said of a rank. Indices are of RunFinding::culprits.
struct RankFinding {
  /// The costliest that is about the rank; if there is none, the first about its file.
  std::optional<size_t> culprit;
  std::optional<size_t> waits_for;  ///< For which it waits, itself or through others.
  size_t steps = 0;                 ///< Number of steps in which it was compared.
  /// How much less it waits per step than the median of its peers, which is how much later it
  /// comes: mean over the steps of its culprit, else over all. nullopt: not known.
  std::optional<int64_t> late_ns;
};

struct RunFinding {
  std::vector<Culprit> culprits;   ///< Those about files first, then the costliest.
  std::vector<RankFinding> ranks;  ///< In the order of the ranks.
};

/// Who slows a run down. Compares what is a rank's own, which does not pass from rank to rank
/// (docs/views_distributed.md, "culprits"). O(n log n) in the times of all ranks.
RunFinding JudgeRanks(const std::vector<CulpritRank>& ranks);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_CULPRITS_H_
