#include "prof/views/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/hta_events.h"
#include "prof/views/call_places.h"
#include "prof/views/rank_order.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr int kWidth = 14;
constexpr FieldType kInteger = FieldType::kInteger;

constexpr Field kCauseField = {
    "cause", "Cause", "", FieldType::kText, 13, "what the time goes to", Fold::kKey};
constexpr Field kTimeField = {
    "time_ns", "Time(ns)", "ns", kInteger, kWidth, "time of the edges of the path", Fold::kSum};
constexpr Field kNameField = {
    "name",
    "Name",
    "",
    FieldType::kName,
    Field::kShared,
    "operator, API call or kernel that the time goes to; empty where nothing is recorded",
    Fold::kKey};
constexpr Field kFields[] = {
    kRankField,
    kStepField,
    kCauseField,
    kTimeField,
    {"share_pct", "Share(%)", "%", FieldType::kDecimal, 8, "100 x time_ns / length_ns", Fold::kSum},
    {"edges", "Edges", "", kInteger, 7, "edges of the path", Fold::kSum},
    {"length_ns", "Length(ns)", "ns", kInteger, kWidth,
     "length of the step's path: the sum of time_ns over its rows", Fold::kNone},
    {"step_ns", "Step(ns)", "ns", kInteger, kWidth, "length of the step with its device work",
     Fold::kNone},
};
constexpr Field kWhatIfFields[] = {
    {"what_if_ns", "WhatIf(ns)", "ns", kInteger, kWidth,
     "length of the longest path with the times of --what-if", Fold::kNone},
    {"what_if_saved_ns", "Saved(ns)", "ns", kInteger, kWidth, "length_ns - what_if_ns",
     Fold::kNone},
    {"what_if_saved_pct", "Saved(%)", "%", FieldType::kDecimal, 9,
     "100 x what_if_saved_ns / length_ns", Fold::kNone},
};
constexpr Field kEdgeFields[] = {
    kRankField,
    kStepField,
    {"edge", "Edge", "", kInteger, 6, "number of the edge in its path, from 1", Fold::kKey},
    {"from", "From", "", FieldType::kName, Field::kShared, "name of the edge before", Fold::kNone},
    {"to", "To", "", FieldType::kName, Field::kShared,
     "operator, API call or kernel that the edge is of; empty where nothing is recorded",
     Fold::kNone},
    {"link", "Link", "", FieldType::kText, 11, "how the edge's end depends on its beginning",
     Fold::kNone},
    {"cause", "Cause", "", FieldType::kText, 13, "what the time goes to", Fold::kNone},
    {"start_ns", "Start(ns)", "ns", kInteger, kWidth, "from the first event of the rank",
     Fold::kMin},
    kTimeField,
    {"thread", "Thread", "", kInteger, 16, "of the host; unknown of work of a GPU", Fold::kNone},
    {"device", "Dev", "", kInteger, 3, "of a GPU's work", Fold::kNone},
    {"stream", "Stream", "", kInteger, 6, "of a GPU's work", Fold::kNone},
};

/// Time of some edges.
struct Sum {
  int64_t time_ns = 0;
  int64_t edges = 0;

  void Add(const Sum& other) {
    time_ns = SaturatingSum(time_ns, other.time_ns);
    edges = SaturatingSum(edges, other.edges);
  }
};

using SumKey = std::pair<PathCause, std::string>;

struct StepSums {
  int64_t length_ns = 0;
  int64_t step_ns = 0;
  int64_t what_if_ns = 0;
  std::map<SumKey, Sum> sums;
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

/// The names of a run's subjects, each made once.
class Names {
 public:
  explicit Names(const Run& run) : run_(run) {}

  const std::string& Of(const PathSubject& subject) {
    const auto [place, is_new] = known_.try_emplace(PathNameKeyOf(run_, subject));
    if (is_new) place->second = PathNameOf(run_, subject);
    return place->second;
  }

 private:
  const Run& run_;
  std::unordered_map<int64_t, std::string> known_;
};

/// Unknown of nothing.
Cell PercentCell(int64_t part, int64_t whole) {
  if (whole == 0) return {};
  return {100.0 * (static_cast<double>(part) / static_cast<double>(whole))};
}

/// The reference's paths: their causes are other words, and they are of no step.
class HtaCriticalPathView : public Partial {
 public:
  explicit HtaCriticalPathView(const ViewOptions& options) : notes_("critical-path") {
    if (!options.what_if.empty()) {
      throw UsageError("--what-if: the view critical-path has none with --compat hta");
    }
    by_edge_ = std::find(options.by.begin(), options.by.end(), "edge") != options.by.end();
    by_name_ = std::find(options.by.begin(), options.by.end(), "name") != options.by.end();
  }

  void Begin(const Run* run) override { notes_.Begin(run); }

  /// Of the first step; without steps of the whole trace.
  void End(const Run* run) override {
    if (run == nullptr) return;
    none_ |= run->trace().torch_events.empty();
    std::vector<HtaPathEdge> path = HtaCriticalPath(run->trace(), "ProfilerStep", 0);
    if (path.empty()) path = HtaCriticalPath(run->trace(), "", 0);
    std::vector<HtaPathEdge>& all = ranks_[std::string(run->rank())];
    all.insert(all.end(), path.begin(), path.end());
  }

  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const HtaCriticalPathView&>(other);
    for (const auto& [name, path] : more.ranks_) {
      std::vector<HtaPathEdge>& mine = ranks_[name];
      mine.insert(mine.end(), path.begin(), path.end());
      if (mine.size() > path.size()) std::sort(mine.begin(), mine.end());
    }
    none_ |= more.none_;
    notes_.Merge(more.notes_);
  }

  std::vector<Field> Fields() const override {
    if (by_edge_) return {std::begin(kEdgeFields), std::end(kEdgeFields)};
    std::vector<Field> fields(std::begin(kFields), std::end(kFields));
    if (by_name_) fields.insert(fields.begin() + 3, kNameField);
    return fields;
  }

  void Emit(Sink* sink) const override {
    for (const auto& [name, path] : ranks_) {
      if (by_edge_) {
        EmitEdges(name, path, sink);
      } else {
        EmitSums(name, path, sink);
      }
    }
  }

  std::vector<std::string> Notes() const override {
    std::vector<std::string> notes = notes_.Sentences();
    if (none_) {
      notes.emplace_back(
          "critical-path: --compat hta reads traces of PyTorch's profiler only: without it any "
          "profile has a critical path");
    }
    return notes;
  }

 private:
  void EmitSums(const std::string& rank, const std::vector<HtaPathEdge>& path, Sink* sink) const {
    std::map<std::pair<std::string_view, std::string_view>, Sum> sums;
    int64_t length_ns = 0;
    for (const HtaPathEdge& edge : path) {
      const std::string_view name = by_name_ ? std::string_view(edge.name) : std::string_view();
      sums[{edge.bound_by, name}].Add({HtaNs(edge.time_us), 1});
      length_ns = SaturatingSum(length_ns, HtaNs(edge.time_us));
    }
    for (const auto& [key, sum] : sums) {
      std::vector<Cell> cells = {Text(rank), {}, Text(key.first)};
      if (by_name_) cells.push_back(Text(key.second));
      cells.insert(cells.end(), {Integer(sum.time_ns),
                                 PercentCell(sum.time_ns, length_ns),
                                 Integer(sum.edges),
                                 Integer(length_ns),
                                 {}});
      sink->Row(cells);
    }
  }

  static void EmitEdges(const std::string& rank, const std::vector<HtaPathEdge>& path, Sink* sink) {
    int64_t number = 0;
    for (const HtaPathEdge& edge : path) {
      const Cell stream = edge.name.empty() ? Cell{} : Integer(edge.stream);
      sink->Row(std::vector<Cell>{Text(rank),
                                  {},
                                  Integer(++number),
                                  {},
                                  Text(edge.name),
                                  Text(edge.type),
                                  Text(edge.bound_by),
                                  {},
                                  Integer(HtaNs(edge.time_us)),
                                  {},
                                  {},
                                  stream});
    }
  }

  bool by_edge_ = false;
  bool by_name_ = false;
  bool none_ = false;  // An input is of another family.
  std::map<std::string, std::vector<HtaPathEdge>, RankBefore> ranks_;
  ViewNotes notes_;
};

class CriticalPath : public Partial {
 public:
  explicit CriticalPath(const ViewOptions& options)
      : what_if_(options.what_if), notes_("critical-path") {
    for (const std::string& word : options.by) {
      by_name_ |= word == "name";
      by_edge_ |= word == "edge";
    }
  }

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  struct Rank {
    std::map<int64_t, StepSums> steps;  // By number.
    std::vector<EdgeRow> edges;         // With --by edge.
  };

  void Take(const Run& run, const StepPath& path, Names* names, Rank* rank);
  void TakeEdges(const Run& run, const StepPath& path, Names* names, Rank* rank);
  void EmitSums(const std::string& rank, int64_t step, const StepSums& found, Sink* sink) const;
  void EmitEdges(const std::string& rank, std::vector<EdgeRow> edges, Sink* sink) const;

  WhatIf what_if_;
  bool by_name_ = false;
  bool by_edge_ = false;
  std::map<std::string, Rank, RankBefore> ranks_;
  int64_t cut_ = 0;
  ViewNotes notes_;
};

void CriticalPath::End(const Run* run) {
  if (run == nullptr) return;
  Rank& rank = ranks_[std::string(run->rank())];
  Names names(*run);
  ForEachCriticalPath(*run, what_if_, [&](const StepPath& path) {
    cut_ = SaturatingSum(cut_, path.cut);
    if (by_edge_) {
      TakeEdges(*run, path, &names, &rank);
    } else if (!path.edges.empty()) {
      Take(*run, path, &names, &rank);
    }
  });
}

void CriticalPath::Take(const Run& run, const StepPath& path, Names* names, Rank* rank) {
  StepSums& step = rank->steps[path.number];
  step.length_ns = SaturatingSum(step.length_ns, path.length_ns);
  step.step_ns = SaturatingSum(step.step_ns, LengthOf(path.span));
  step.what_if_ns = SaturatingSum(step.what_if_ns, path.what_if_ns);
  if (by_name_) {
    std::map<std::pair<int64_t, PathCause>, std::pair<Sum, PathSubject>> found;
    for (const PathEdge& edge : path.edges) {
      auto& [sum, subject] = found[{PathNameKeyOf(run, edge.subject), edge.cause}];
      sum.Add({edge.time_ns, 1});
      subject = edge.subject;
    }
    for (const auto& [key, value] : found) {
      step.sums[{key.second, names->Of(value.second)}].Add(value.first);
    }
    return;
  }
  Sum sums[kPathCauseCount];
  for (const PathEdge& edge : path.edges) {
    sums[static_cast<size_t>(edge.cause)].Add({edge.time_ns, 1});
  }
  for (size_t i = 0; i < kPathCauseCount; ++i) {
    if (sums[i].edges > 0) step.sums[{static_cast<PathCause>(i), ""}].Add(sums[i]);
  }
}

void CriticalPath::TakeEdges(const Run& run, const StepPath& path, Names* names, Rank* rank) {
  const int64_t origin_ns = run.origin_ns();
  int64_t number = 0;
  std::string before;
  for (const PathEdge& edge : path.edges) {
    EdgeRow& row = rank->edges.emplace_back();
    row.step = path.number;
    row.number = ++number;
    row.start_ns = LengthOf({origin_ns, edge.start_ns});
    row.time_ns = edge.time_ns;
    row.to = names->Of(edge.subject);
    row.from = std::exchange(before, row.to);
    row.link = edge.link;
    row.cause = edge.cause;
    if (edge.thread < run.trace().threads.size()) {
      row.thread = run.trace().threads[edge.thread].thread_id;
    }
    if (edge.subject.kind != PathSubject::Kind::kWork) continue;
    row.device = edge.device_id;
    row.stream = edge.stream_id;
  }
}

void CriticalPath::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const CriticalPath&>(other);
  for (const auto& [name, rank] : more.ranks_) {
    Rank& mine = ranks_[name];
    mine.edges.insert(mine.edges.end(), rank.edges.begin(), rank.edges.end());
    for (const auto& [number, found] : rank.steps) {
      StepSums& step = mine.steps[number];
      step.length_ns = SaturatingSum(step.length_ns, found.length_ns);
      step.step_ns = SaturatingSum(step.step_ns, found.step_ns);
      step.what_if_ns = SaturatingSum(step.what_if_ns, found.what_if_ns);
      for (const auto& [key, sum] : found.sums) step.sums[key].Add(sum);
    }
  }
  cut_ = SaturatingSum(cut_, more.cut_);
  notes_.Merge(more.notes_);
}

std::vector<Field> CriticalPath::Fields() const {
  if (by_edge_) return {std::begin(kEdgeFields), std::end(kEdgeFields)};
  std::vector<Field> fields(std::begin(kFields), std::end(kFields));
  if (by_name_) fields.insert(fields.begin() + 3, kNameField);
  if (!what_if_.empty()) {
    fields.insert(fields.end(), std::begin(kWhatIfFields), std::end(kWhatIfFields));
  }
  return fields;
}

void CriticalPath::Emit(Sink* sink) const {
  for (const auto& [name, rank] : ranks_) {
    for (const auto& [number, step] : rank.steps) EmitSums(name, number, step, sink);
    EmitEdges(name, rank.edges, sink);
  }
}

void CriticalPath::EmitSums(const std::string& rank, int64_t step, const StepSums& found,
                            Sink* sink) const {
  std::vector<std::pair<const SumKey*, const Sum*>> rows;
  for (const auto& [key, sum] : found.sums) rows.emplace_back(&key, &sum);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second->time_ns > b.second->time_ns;
  });
  for (const auto& [key, sum] : rows) {
    std::vector<Cell> cells = {Text(rank), Integer(step), Text(PathCauseWord(key->first))};
    if (by_name_) cells.push_back(Text(key->second));
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

void CriticalPath::EmitEdges(const std::string& rank, std::vector<EdgeRow> edges,
                             Sink* sink) const {
  std::sort(edges.begin(), edges.end());
  for (const EdgeRow& row : edges) {
    sink->Row(std::vector<Cell>{
        Text(rank), Integer(row.step), Integer(row.number), Text(row.from), Text(row.to),
        Text(PathLinkWord(row.link)), Text(PathCauseWord(row.cause)), Integer(row.start_ns),
        Integer(row.time_ns), Integer(row.thread), Integer(row.device), Integer(row.stream)});
  }
}

std::vector<std::string> CriticalPath::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  if (cut_ > 0) {
    notes.push_back(fmt::format(
        "critical-path: {} dependencies are left out: by the times of the file what is waited for "
        "comes later than what waits",
        cut_));
  }
  return notes;
}

}  // namespace

std::span<const Field> CriticalPathFields() { return kFields; }

std::unique_ptr<Partial> MakeCriticalPath(const ViewOptions& options) {
  if (options.compat == Compat::kHta) return std::make_unique<HtaCriticalPathView>(options);
  return std::make_unique<CriticalPath>(options);
}

std::span<const std::string_view> CriticalPathKeys() {
  static constexpr std::string_view kKeys[] = {"name", "edge"};
  return kKeys;
}

}  // namespace oplens::prof
