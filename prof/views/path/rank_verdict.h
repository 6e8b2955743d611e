#ifndef OPLENS_PROF_VIEWS_PATH_RANK_VERDICT_H_
#define OPLENS_PROF_VIEWS_PATH_RANK_VERDICT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/run/idle_gaps.h"

namespace oplens::prof {

class Run;
struct PricedKernel;

/// What a rank spends most time on.
struct RankVerdict {
  int64_t steps = 0;
  int64_t total_ns = 0;
  int64_t idle_ns = 0;
  int64_t time_ns = 0;
  std::string cause;
  std::string call;
  std::string op;
  std::string frame;
  std::string sentence;
  std::string command;

  bool is_busy() const { return cause == "busy"; }
  /// Of two recordings of a rank the longer one speaks.
  void Merge(const RankVerdict& other) {
    const auto order = [](const RankVerdict& one) { return std::tie(one.total_ns, one.sentence); };
    if (order(*this) < order(other)) *this = other;
  }
};

inline constexpr TraceNeeds kVerdictNeeds = kIdleGapsNeeds;

/// Finds the verdict of a run. O(log n) per item of work.
class VerdictFinder {
 public:
  /// `run`: null if there are only records, of which nothing can be said.
  void Begin(const Run* run);
  void Add(const PricedKernel& kernel);
  std::optional<RankVerdict> End();

 private:
  // Of the current run:
  const Run* run_ = nullptr;
  int64_t kernel_ns_ = 0;
  std::map<std::string, int64_t, std::less<>> ops_ns_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_RANK_VERDICT_H_
