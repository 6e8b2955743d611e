#include "prof/views/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/views/critical_path_fields.h"
#include "prof/views/hta_critical_path.h"
#include "prof/views/rank_order.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr Field kWhatIfFields[] = {
    {"what_if_ns", "WhatIf(ns)", "ns", FieldType::kInteger, kPathWidth,
     "length of the longest path with the times of --what-if", Fold::kNone},
    {"what_if_saved_ns", "Saved(ns)", "ns", FieldType::kInteger, kPathWidth,
     "length_ns - what_if_ns", Fold::kNone},
    {"what_if_saved_pct", "Saved(%)", "%", FieldType::kDecimal, 9,
     "100 x what_if_saved_ns / length_ns", Fold::kNone},
};
using SumKey = std::pair<PathCause, std::string>;

struct StepSums {
  int64_t length_ns = 0;
  int64_t step_ns = 0;
  int64_t what_if_ns = 0;
  std::map<SumKey, PathSum> sums;  // By cause, and name with --by name.

  void Add(const StepPath& path) {
    length_ns = SaturatingSum(length_ns, path.length_ns);
    step_ns = SaturatingSum(step_ns, LengthOf(path.span));
    what_if_ns = SaturatingSum(what_if_ns, path.what_if_ns);
  }
  void Add(const StepSums& other) {
    length_ns = SaturatingSum(length_ns, other.length_ns);
    step_ns = SaturatingSum(step_ns, other.step_ns);
    what_if_ns = SaturatingSum(what_if_ns, other.what_if_ns);
    for (const auto& [key, sum] : other.sums) sums[key].Add(sum);
  }
};

struct EdgeRow {
  int64_t step = 0;
  int64_t number = 0;
  int64_t start_ns = 0;
  int64_t time_ns = 0;
  std::string from;
  std::string to;
  PathLink link = PathLink::kHost;
  PathCause cause = PathCause::kIdle;
  std::optional<int64_t> thread;
  std::optional<int64_t> device;
  std::optional<int64_t> stream;

  friend auto operator<=>(const EdgeRow&, const EdgeRow&) = default;
};

/// What was found of a rank.
struct RankPaths {
  std::map<int64_t, StepSums> steps;  // By number.
  std::vector<EdgeRow> edges;         // With --by edge.
};

enum class PathRows : uint8_t { kCauses, kNames, kEdges };

/// Makes rows of the paths of a run.
class RowMaker : public PathTaker {
 public:
  RowMaker(const Run& run, PathRows rows, RankPaths* rank)
      : run_(run),
        rows_(rows),
        rank_(*rank),
        origin_ns_(rows == PathRows::kEdges ? run.origin_ns() : 0) {}

  void TakeEdge(const PathEdge& edge) override {
    if (rows_ == PathRows::kCauses) {
      causes_[static_cast<size_t>(edge.cause)].Add({edge.time_ns, 1});
    } else if (rows_ == PathRows::kNames) {
      auto& [sum, subject] = names_[{PathNameKeyOf(run_, edge.subject), edge.cause}];
      sum.Add({edge.time_ns, 1});
      subject = edge.subject;
    } else {
      AddRow(edge);
    }
  }

  void TakeStep(const StepPath& path) override {
    cut_ = SaturatingSum(cut_, path.cut);
    if (rows_ == PathRows::kEdges) {
      for (; numbered_ < rank_.edges.size(); ++numbered_) {
        rank_.edges[numbered_].step = path.number;
      }
      number_ = 0;
      before_.clear();
      return;
    }
    if (path.length_ns == 0) return;
    StepSums& step = rank_.steps[path.number];
    step.Add(path);
    for (size_t i = 0; i < kPathCauseCount; ++i) {
      if (causes_[i].edges > 0) step.sums[{static_cast<PathCause>(i), ""}].Add(causes_[i]);
    }
    causes_ = {};
    for (const auto& [key, found] : names_) {
      step.sums[{key.second, NameOf(found.second)}].Add(found.first);
    }
    names_.clear();
  }

  int64_t cut() const { return cut_; }

 private:
  const std::string& NameOf(const PathSubject& subject) {
    const auto [place, is_new] = texts_.try_emplace(PathNameKeyOf(run_, subject));
    if (is_new) place->second = PathNameOf(run_, subject);
    return place->second;
  }

  void AddRow(const PathEdge& edge) {
    EdgeRow& row = rank_.edges.emplace_back();
    row.number = ++number_;
    row.start_ns = LengthOf({origin_ns_, edge.start_ns});
    row.time_ns = edge.time_ns;
    row.to = NameOf(edge.subject);
    row.from = std::exchange(before_, row.to);
    row.link = edge.link;
    row.cause = edge.cause;
    if (edge.thread < run_.trace().threads.size()) {
      row.thread = run_.trace().threads[edge.thread].thread_id;
    }
    if (edge.subject.kind != PathSubject::Kind::kWork) return;
    row.device = edge.device_id;
    row.stream = edge.stream_id;
  }

  const Run& run_;
  PathRows rows_;
  RankPaths& rank_;
  int64_t origin_ns_;
  int64_t cut_ = 0;
  std::unordered_map<int64_t, std::string> texts_;  // By PathNameKeyOf.
  // Of the step at hand.
  std::array<PathSum, kPathCauseCount> causes_{};
  std::map<std::pair<int64_t, PathCause>, std::pair<PathSum, PathSubject>> names_;
  size_t numbered_ = 0;  // Rows that know their step.
  int64_t number_ = 0;
  std::string before_;
};

class CriticalPath : public Partial {
 public:
  explicit CriticalPath(const ViewOptions& options)
      : what_if_(options.what_if), notes_("critical-path") {
    for (const std::string& word : options.by) {
      if (word == "edge") rows_ = PathRows::kEdges;
      if (word == "name" && rows_ == PathRows::kCauses) rows_ = PathRows::kNames;
    }
  }

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override {
    if (run == nullptr) return;
    RowMaker maker(*run, rows_, &ranks_[std::string(run->rank())]);
    FindCriticalPaths(*run, &what_if_, &maker);
    cut_ = SaturatingSum(cut_, maker.cut());
  }
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  void EmitSums(const std::string& rank, int64_t step, const StepSums& found, Sink* sink) const;

  WhatIf what_if_;
  PathRows rows_ = PathRows::kCauses;
  std::map<std::string, RankPaths, RankBefore> ranks_;
  int64_t cut_ = 0;
  ViewNotes notes_;
};

void CriticalPath::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const CriticalPath&>(other);
  for (const auto& [name, rank] : more.ranks_) {
    RankPaths& mine = ranks_[name];
    mine.edges.insert(mine.edges.end(), rank.edges.begin(), rank.edges.end());
    for (const auto& [number, found] : rank.steps) mine.steps[number].Add(found);
  }
  cut_ = SaturatingSum(cut_, more.cut_);
  what_if_.MergeFitted(more.what_if_);
  notes_.Merge(more.notes_);
}

std::vector<Field> CriticalPath::Fields() const {
  if (rows_ == PathRows::kEdges) return {std::begin(kPathEdgeFields), std::end(kPathEdgeFields)};
  std::vector<Field> fields = PathFields(rows_ == PathRows::kNames);
  if (!what_if_.empty()) {
    fields.insert(fields.end(), std::begin(kWhatIfFields), std::end(kWhatIfFields));
  }
  return fields;
}

void EmitEdges(const std::string& rank, std::vector<EdgeRow> edges, Sink* sink) {
  std::sort(edges.begin(), edges.end());
  for (const EdgeRow& row : edges) {
    sink->Row(std::vector<Cell>{
        Text(rank), Integer(row.step), Integer(row.number), Text(row.from), Text(row.to),
        Text(PathLinkWord(row.link)), Text(PathCauseWord(row.cause)), Integer(row.start_ns),
        Integer(row.time_ns), Integer(row.thread), Integer(row.device), Integer(row.stream)});
  }
}

void CriticalPath::Emit(Sink* sink) const {
  for (const auto& [name, rank] : ranks_) {
    for (const auto& [number, step] : rank.steps) EmitSums(name, number, step, sink);
    EmitEdges(name, rank.edges, sink);
  }
}

void CriticalPath::EmitSums(const std::string& rank, int64_t step, const StepSums& found,
                            Sink* sink) const {
  std::vector<std::pair<const SumKey*, const PathSum*>> rows;
  for (const auto& [key, sum] : found.sums) rows.emplace_back(&key, &sum);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second->time_ns > b.second->time_ns;
  });
  for (const auto& [key, sum] : rows) {
    std::vector<Cell> cells = {Text(rank), Integer(step), Text(PathCauseWord(key->first))};
    if (rows_ == PathRows::kNames) cells.push_back(Text(key->second));
    cells.insert(cells.end(),
                 {Integer(sum->time_ns), PercentCell(sum->time_ns, found.length_ns),
                  Integer(sum->edges), Integer(found.length_ns), Integer(found.step_ns)});
    if (!what_if_.empty()) {
      const int64_t saved_ns = found.length_ns - found.what_if_ns;
      cells.insert(cells.end(), {Integer(found.what_if_ns), Integer(saved_ns),
                                 PercentCell(saved_ns, found.length_ns)});
    }
    sink->Row(cells);
  }
}

std::vector<std::string> CriticalPath::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  for (const std::string& change :
       ranks_.empty() ? std::vector<std::string>() : what_if_.Unfitted()) {
    notes.push_back(fmt::format(
        "critical-path: --what-if {} fits nothing: --view critical-path --by name has the names",
        change));
  }
  if (cut_ > 0) {
    notes.push_back(fmt::format(
        "critical-path: {} dependencies are left out: by the times of the file what is waited for "
        "comes later than what waits",
        cut_));
  }
  return notes;
}

}  // namespace

std::span<const Field> CriticalPathFields() { return kPathFields; }

std::unique_ptr<Partial> MakeCriticalPath(const ViewOptions& options) {
  if (options.compat == Compat::kHta) return MakeHtaCriticalPath(options);
  return std::make_unique<CriticalPath>(options);
}

std::span<const std::string_view> CriticalPathKeys() {
  static constexpr std::string_view kKeys[] = {"name", "edge"};
  return kKeys;
}

}  // namespace oplens::prof
