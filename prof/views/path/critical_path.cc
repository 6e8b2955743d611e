#include "prof/path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sums.h"
#include "prof/run/run.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/view.h"
#include "prof/views/common/view_notes.h"
#include "prof/views/path/critical_path_fields.h"
#include "prof/views/path/path_rows.h"

namespace oplens::prof {
namespace {

PathRows CriticalPathRowsOf(const ViewOptions& options) {
  PathRows rows = PathRows::kCauses;
  for (const std::string& word : options.by) {
    if (word == "edge") rows = PathRows::kEdges;
    if (word == "name" && rows == PathRows::kCauses) rows = PathRows::kNames;
  }
  return rows;
}

class CriticalPath : public Partial {
 public:
  /// `place`: of these options' rows in `finder`.
  CriticalPath(const ViewOptions& options, std::shared_ptr<PathFinder> finder, size_t place)
      : finder_(std::move(finder)),
        place_(place),
        most_rows_(options.most_rows),
        what_if_(options.what_if),
        rows_(CriticalPathRowsOf(options)),
        texts_(finder_->texts()),
        notes_("critical-path") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override {
    if (run == nullptr) return;
    PathFinder::Found found = finder_->Take(*run, place_);
    const auto [rank, is_new] = ranks_.try_emplace(std::string(run->rank()));
    if (is_new) {
      rank->second = std::move(found.paths);
    } else {
      Take(rank->first, found.paths, *texts_);
    }
    cut_ += found.cut;
    what_if_.MergeFitted(finder_->what_if());
  }
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;
  void Save(ByteWriter* bytes) const override;
  void Load(ByteReader* bytes) override;

 private:
  /// `texts`: of the names in `found`.
  void Take(const std::string& rank, const RankPaths& found, const TextNumbers& texts);
  void EmitSums(const std::string& rank, int64_t step, const PathStepSums& found,
                TableOf<PathRow>* table) const;

  std::shared_ptr<PathFinder> finder_;
  size_t place_;
  size_t most_rows_;
  WhatIf what_if_;
  PathRows rows_;
  std::shared_ptr<TextNumbers> texts_;  // Of names.
  std::map<std::string, RankPaths, RankBefore> ranks_;
  Sum cut_;
  ViewNotes notes_;
};

void CriticalPath::Take(const std::string& rank, const RankPaths& found, const TextNumbers& texts) {
  RankPaths& mine = ranks_[rank];
  const auto number_of = [&](uint32_t name) {
    return &texts == texts_.get() ? name : texts_->NumberOf(texts.TextOf(name));
  };
  if (mine.edges.size() <= most_rows_) mine.edges.Take(found.edges, number_of);
  for (const auto& [number, step] : found.steps) {
    PathStepSums renamed = step;
    for (PathStepSums::Part& part : renamed.parts) part.name = number_of(part.name);
    mine.steps[number].Add(renamed);
  }
}

void CriticalPath::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const CriticalPath&>(other);
  for (const auto& [name, rank] : more.ranks_) Take(name, rank, *more.texts_);
  cut_ += more.cut_;
  what_if_.MergeFitted(more.what_if_);
  notes_.Merge(more.notes_);
}

void CriticalPath::Save(ByteWriter* bytes) const {
  bytes->Values(&notes_, &cut_);
  bytes->Number(ranks_.size());
  for (const auto& [name, rank] : ranks_) {
    bytes->Values(&name);
    bytes->Number(rank.steps.size());
    for (const auto& [number, step] : rank.steps) {
      bytes->Values(&number);
      step.Save(*texts_, bytes);
    }
    rank.edges.Save(*texts_, bytes);
  }
}

void CriticalPath::Load(ByteReader* bytes) {
  bytes->Values(&notes_, &cut_);
  for (size_t left = bytes->Size(); left > 0; --left) {
    std::string name;
    bytes->Values(&name);
    RankPaths rank;
    for (size_t steps = bytes->Size(); steps > 0; --steps) {
      int64_t number = 0;
      bytes->Values(&number);
      PathStepSums step;
      step.Load(texts_.get(), bytes);
      rank.steps[number].Add(step);
    }
    rank.edges.Load(texts_.get(), bytes);
    bytes->Check(rows_ == PathRows::kEdges ? rank.steps.empty() : rank.edges.size() == 0,
                 "the path has rows of another kind");
    const auto [at, is_new] = ranks_.try_emplace(name);
    if (is_new) {
      at->second = std::move(rank);
    } else {
      Take(name, rank, *texts_);
    }
  }
}

std::vector<Field> CriticalPath::Fields() const {
  if (rows_ == PathRows::kEdges) return {std::begin(kPathEdgeColumns), std::end(kPathEdgeColumns)};
  return FieldsOf(PathColumns(rows_ == PathRows::kNames, !what_if_.empty()));
}

void CriticalPath::Emit(Sink* sink) const {
  if (rows_ == PathRows::kEdges) {
    TableOf<PathEdgeRow> table(kPathEdgeColumns, sink);
    for (const auto& [name, rank] : ranks_) {
      rank.edges.ForEach(*texts_, [&, &rank_name = name](const PathEdges::Row& row) {
        const PathEdges::Edge& edge = *row.edge;
        table.Add({rank_name, row.step, row.number, row.from, row.to, PathLinkWord(edge.link),
                   PathCauseWord(edge.cause), edge.start_ns, edge.time_ns, row.place->thread,
                   row.place->device, row.place->stream});
      });
    }
    return;
  }
  TableOf<PathRow> table(PathColumns(rows_ == PathRows::kNames, !what_if_.empty()), sink);
  for (const auto& [name, rank] : ranks_) {
    for (const auto& [number, step] : rank.steps) EmitSums(name, number, step, &table);
  }
}

void CriticalPath::EmitSums(const std::string& rank, int64_t step, const PathStepSums& found,
                            TableOf<PathRow>* table) const {
  std::vector<const PathStepSums::Part*> rows;
  for (const PathStepSums::Part& part : found.parts) rows.push_back(&part);
  std::sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    if (a->sum.time_ns != b->sum.time_ns) return a->sum.time_ns > b->sum.time_ns;
    if (a->cause != b->cause) return a->cause < b->cause;
    return texts_->TextOf(a->name) < texts_->TextOf(b->name);
  });
  for (const PathStepSums::Part* part : rows) {
    table->Add({rank, step, PathCauseWord(part->cause), texts_->TextOf(part->name), part->sum,
                found.length_ns, found.step_ns, found.what_if_ns});
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
    notes.push_back(
        fmt::format("critical-path: {} dependencies are left out: by the times of the file, the "
                    "cause comes after the effect",
                    int64_t{cut_}));
  }
  return notes;
}

std::vector<std::unique_ptr<Partial>> MakeCriticalPaths(std::span<const ViewOptions> options) {
  std::vector<std::unique_ptr<Partial>> partials;
  std::vector<PathFinder::Wanted> wanted;
  for (const ViewOptions& one : options) wanted.push_back({CriticalPathRowsOf(one), one.most_rows});
  // Different --what-if times give different paths.
  std::map<std::vector<std::string>, std::shared_ptr<PathFinder>> finders;
  for (size_t i = 0; i < options.size(); ++i) {
    std::shared_ptr<PathFinder>& finder = finders[options[i].what_if];
    if (finder == nullptr) {
      finder = std::make_shared<PathFinder>(WhatIf(options[i].what_if), wanted);
    }
    partials.push_back(std::make_unique<CriticalPath>(options[i], finder, i));
  }
  return partials;
}

constexpr std::string_view kCriticalPathKeys[] = {"name", "edge"};

}  // namespace

extern constexpr View kCriticalPathView = {
    .name = "critical-path",
    .help = "what determined the length of each step, one dependency after the other",
    .needs = kCriticalPathNeeds,
    .fields = FieldsWithoutBy<kPathColumns>,
    .make = MakeAlone<MakeCriticalPaths>,
    .make_together = MakeCriticalPaths,
    .by = kCriticalPathKeys,
    .saved_form = 2,
    .what_if = true};

}  // namespace oplens::prof
