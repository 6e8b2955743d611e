#include "prof/verdicts/file_culprits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "prof/verdicts/run_times.h"

namespace oplens::prof {
namespace {

constexpr size_t kMostNamed = 8;

/// "rank 3", "ranks 3, 5 and 12 more"
template <typename Names>
std::string RanksText(const Names& names) {
  std::string text = names.size() == 1 ? "rank " : "ranks ";
  size_t shown = 0;
  for (const auto& name : names) {
    if (shown == kMostNamed) break;
    text += fmt::format("{}{}", shown++ == 0 ? "" : ", ", name);
  }
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

Culprit FileCulprit(std::string who, CulpritCause cause, std::string what) {
  Culprit culprit;
  culprit.who = std::move(who);
  culprit.cause = cause;
  culprit.what = std::move(what);
  return culprit;
}

/// The value that most ranks have; of several the smallest.
template <typename Value>
Value UsualOf(const std::map<Value, std::vector<size_t>>& ranks_by) {
  return std::ranges::max_element(ranks_by, {}, [](const auto& of) { return of.second.size(); })
      ->first;
}

/// Ranks whose value differs from that of most.
template <typename Value>
std::vector<std::pair<Value, std::vector<size_t>>> OthersThanUsual(
    const std::map<Value, std::vector<size_t>>& ranks_by) {
  std::vector<std::pair<Value, std::vector<size_t>>> others;
  if (ranks_by.size() < 2) return others;
  const Value usual = UsualOf(ranks_by);
  for (const auto& [value, ranks] : ranks_by) {
    if (value != usual) others.emplace_back(value, ranks);
  }
  return others;
}

class FileJudge {
 public:
  explicit FileJudge(const std::vector<CulpritRank>& ranks) : ranks_(ranks) {}

  std::vector<Culprit> Find() {
    FindOtherRuns();
    FindMissing();
    FindTwice();
    FindFewerSteps();
    return std::move(found_);
  }

 private:
  void Add(std::string who, CulpritCause cause, std::string what,
           const std::vector<size_t>& ranks = {}) {
    found_.push_back(FileCulprit(std::move(who), cause, std::move(what)));
    found_.back().ranks = ranks;
  }

  std::vector<std::string> NamesOf(const std::vector<size_t>& places) const {
    std::vector<std::string> names;
    for (const size_t place : places) names.push_back(ranks_[place].name);
    return names;
  }

  void FindMissing() {
    std::set<int64_t> there;
    int64_t world = -1;
    for (const CulpritRank& rank : ranks_) {
      world = std::max(world, rank.load->world_size);
      if (rank.load->number < 0) return;  // Any may be the missing one.
      there.insert(rank.load->number);
    }
    constexpr int64_t kMostRanks = int64_t{1} << 24;
    if (world < 2 || world > kMostRanks || ranks_.size() < 2) return;
    std::vector<int64_t> missing;
    for (int64_t rank = 0; rank < world; ++rank) {
      if (!there.contains(rank)) missing.push_back(rank);
    }
    if (missing.empty()) return;
    Add(RanksText(missing), CulpritCause::kMissingRank,
        fmt::format("{} of {} ranks have no profile here: what waits for them is not known",
                    missing.size(), world));
  }

  void FindTwice() {
    std::map<int64_t, std::vector<size_t>> ranks_by;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].load->number >= 0) ranks_by[ranks_[i].load->number].push_back(i);
    }
    for (const auto& [number, ranks] : ranks_by) {
      if (ranks.size() < 2) continue;
      Add(fmt::format("rank {}", number), CulpritCause::kTwice,
          fmt::format("{} files say that they are this rank", ranks.size()), ranks);
    }
  }

  void FindOtherRuns() {
    std::map<int64_t, std::vector<size_t>> worlds;
    std::map<std::string, std::vector<size_t>> gpus;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      const RankLoad& load = *ranks_[i].load;
      if (load.world_size > 0) worlds[load.world_size].push_back(i);
      if (!load.gpu.empty()) gpus[load.gpu].push_back(i);
    }
    for (const auto& [world, ranks] : OthersThanUsual(worlds)) {
      Add(RanksText(NamesOf(ranks)), CulpritCause::kOtherRun,
          fmt::format("of a run of {} ranks; the others of one of {}", world, UsualOf(worlds)),
          ranks);
    }
    for (const auto& [gpu, ranks] : OthersThanUsual(gpus)) {
      Add(RanksText(NamesOf(ranks)), CulpritCause::kOtherRun,
          fmt::format("on {}; the others on {}", gpu, UsualOf(gpus)), ranks);
    }
    FindOtherTimes();
  }

  /// Recordings of one run are of about the same time.
  void FindOtherTimes() {
    std::vector<std::optional<int64_t>> began_ns;
    for (const CulpritRank& rank : ranks_) began_ns.push_back(rank.load->began_ns);
    const std::vector<int64_t> run_of = RunsByTime(began_ns);
    std::map<int64_t, std::vector<size_t>> runs;
    for (size_t i = 0; i < run_of.size(); ++i) {
      if (run_of[i] >= 0) runs[run_of[i]].push_back(i);
    }
    for (const auto& [run, ranks] : OthersThanUsual(runs)) {
      constexpr double kHourNs = 3.6e12;
      const size_t usual = runs.at(UsualOf(runs)).front();
      const double hours =
          (static_cast<double>(*began_ns[ranks.front()]) - static_cast<double>(*began_ns[usual])) /
          kHourNs;
      Add(RanksText(NamesOf(ranks)), CulpritCause::kOtherRun,
          fmt::format("recorded {:.1f} hours {} the others", std::abs(hours),
                      hours < 0 ? "before" : "after"),
          ranks);
    }
  }

  void FindFewerSteps() {
    std::map<int64_t, std::vector<size_t>> counts;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      counts[static_cast<int64_t>(ranks_[i].load->steps.size())].push_back(i);
    }
    const int64_t usual = counts.empty() ? 0 : UsualOf(counts);
    for (const auto& [count, ranks] : OthersThanUsual(counts)) {
      Add(RanksText(NamesOf(ranks)), CulpritCause::kFewerSteps,
          fmt::format("{} steps; the others have {}", count, usual), ranks);
    }
  }

  const std::vector<CulpritRank>& ranks_;
  std::vector<Culprit> found_;
};

}  // namespace

std::vector<Culprit> FindFileCulprits(const std::vector<CulpritRank>& ranks) {
  return FileJudge(ranks).Find();
}

}  // namespace oplens::prof
