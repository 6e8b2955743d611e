#include "prof/views/path/path_rows.h"

#include <array>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "prof/run/class_times.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

/// Numbers of the edges' names.
class PathNames {
 public:
  PathNames(const Run& run, TextNumbers* texts) : run_(run), texts_(*texts) {}

  uint32_t NumberOf(const PathSubject& subject) {
    const auto [place, is_new] = numbers_.try_emplace(PathNameKeyOf(run_, subject));
    if (is_new) place->second = texts_.NumberOf(PathNameOf(run_, subject));
    return place->second;
  }

 private:
  const Run& run_;
  TextNumbers& texts_;
  std::unordered_map<int64_t, uint32_t> numbers_;  // By PathNameKeyOf.
};

/// Makes one kind of rows from the paths of a run.
class RowMaker {
 public:
  RowMaker(const Run& run, const PathFinder::Wanted& wanted, PathNames* names,
           PathFinder::Found* found)
      : run_(run),
        wanted_(wanted),
        names_(*names),
        found_(*found),
        origin_ns_(wanted.rows == PathRows::kEdges ? run.origin_ns() : 0) {}

  void TakeEdge(const PathEdge& edge) {
    switch (wanted_.rows) {
      case PathRows::kCauses:
        causes_[static_cast<size_t>(edge.cause)].Add({edge.time_ns, 1});
        break;
      case PathRows::kNames:
        sums_[{names_.NumberOf(edge.subject), edge.cause}].Add({edge.time_ns, 1});
        break;
      case PathRows::kEdges:
        if (found_.paths.edges.size() <= wanted_.most_rows) AddRow(edge);
        break;
    }
  }

  void TakeStep(const StepPath& path) {
    found_.cut += path.cut;
    if (wanted_.rows == PathRows::kEdges) return found_.paths.edges.EndStep(path.number);
    if (path.length_ns == 0) return;
    PathStepSums own;
    own.length_ns = path.length_ns;
    own.step_ns = LengthOf(path.span);
    own.what_if_ns = path.what_if_ns;
    for (size_t i = 0; i < kPathCauseCount; ++i) {
      if (causes_[i].edges > 0) own.parts.push_back({static_cast<PathCause>(i), 0, causes_[i]});
    }
    for (const auto& [key, sum] : sums_) own.parts.push_back({key.second, key.first, sum});
    own.MergeParts();
    own.parts.shrink_to_fit();
    causes_ = {};
    sums_.clear();
    const auto [step, is_new] = found_.paths.steps.try_emplace(path.number);
    if (is_new) {
      step->second = std::move(own);
    } else {
      step->second.Add(own);
    }
  }

 private:
  void AddRow(const PathEdge& edge) {
    PathEdges::Place place;
    if (edge.thread < run_.trace().threads.size()) {
      place.thread = run_.trace().threads[edge.thread].thread_id;
    }
    if (edge.subject.kind == PathSubject::Kind::kWork) {
      place.device = edge.device_id;
      place.stream = edge.stream_id;
    }
    found_.paths.edges.Add({LengthOf({origin_ns_, edge.start_ns}), edge.time_ns,
                            names_.NumberOf(edge.subject), 0, edge.link, edge.cause},
                           place);
  }

  const Run& run_;
  PathFinder::Wanted wanted_;
  PathNames& names_;
  PathFinder::Found& found_;
  int64_t origin_ns_;
  // Of the current step.
  std::array<PathSum, kPathCauseCount> causes_{};
  std::map<std::pair<uint32_t, PathCause>, PathSum> sums_;
};

class RowMakers : public PathTaker {
 public:
  std::vector<RowMaker> makers;

  void TakeEdge(const PathEdge& edge) override {
    for (RowMaker& maker : makers) maker.TakeEdge(edge);
  }
  void TakeStep(const StepPath& path) override {
    for (RowMaker& maker : makers) maker.TakeStep(path);
  }
};

}  // namespace

void PathStepSums::Add(const PathStepSums& other) {
  length_ns += other.length_ns;
  step_ns += other.step_ns;
  what_if_ns += other.what_if_ns;
  parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  MergeParts();
}

void PathStepSums::MergeParts() {
  const auto key = [](const Part& part) { return std::pair(part.cause, part.name); };
  std::sort(parts.begin(), parts.end(),
            [&](const Part& a, const Part& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (const Part& part : parts) {
    if (kept > 0 && key(parts[kept - 1]) == key(part)) {
      parts[kept - 1].sum.Add(part.sum);
    } else {
      parts[kept++] = part;
    }
  }
  parts.resize(kept);
}

void PathStepSums::Save(const TextNumbers& texts, ByteWriter* bytes) const {
  bytes->Values(&length_ns, &step_ns, &what_if_ns);
  // By text: numbers depend on what was read before.
  std::vector<const Part*> order;
  for (const Part& part : parts) order.push_back(&part);
  std::sort(order.begin(), order.end(), [&](const Part* a, const Part* b) {
    return a->cause != b->cause ? a->cause < b->cause
                                : texts.TextOf(a->name) < texts.TextOf(b->name);
  });
  bytes->Number(order.size());
  for (const Part* part : order) {
    bytes->Word(&part->cause, kPathCauseCount);
    bytes->Text(texts.TextOf(part->name));
    bytes->Values(&part->sum);
  }
}

void PathStepSums::Load(TextNumbers* texts, ByteReader* bytes) {
  bytes->Values(&length_ns, &step_ns, &what_if_ns);
  parts.resize(bytes->Size(4));
  for (Part& part : parts) {
    bytes->Word(&part.cause, kPathCauseCount);
    part.name = texts->NumberOf(bytes->Text());
    bytes->Values(&part.sum);
  }
  MergeParts();
}

namespace {

// Threads and streams are few, so a linear search suffices.
constexpr size_t kMostPlaces = size_t{1} << 16;

}  // namespace

void PathEdges::Save(const TextNumbers& texts, ByteWriter* bytes) const {
  bytes->Number(places_.size());
  for (const Place& place : places_) bytes->Values(&place.thread, &place.device, &place.stream);
  bytes->Number(steps_.size());
  for (size_t step = 0; step < steps_.size(); ++step) {
    bytes->Values(&steps_[step].number);
    bytes->Number(steps_[step].end - BeginOf(step));
    int64_t before_ns = 0;
    for (size_t i = BeginOf(step); i < steps_[step].end; ++i) {
      const Edge& edge = edges_[i];
      bytes->Near(&edge.start_ns, before_ns);
      bytes->Values(&edge.time_ns, &edge.place);
      bytes->Text(texts.TextOf(edge.name));
      bytes->Word(&edge.link, kPathLinkCount);
      bytes->Word(&edge.cause, kPathCauseCount);
      before_ns = edge.start_ns;
    }
  }
}

void PathEdges::Load(TextNumbers* texts, ByteReader* bytes) {
  places_.resize(bytes->Size(3));
  bytes->Check(places_.size() <= kMostPlaces, "there are too many threads and streams");
  for (Place& place : places_) bytes->Values(&place.thread, &place.device, &place.stream);
  for (size_t left = bytes->Size(2); left > 0; --left) {
    int64_t number = 0;
    bytes->Values(&number);
    int64_t before_ns = 0;
    for (size_t more = bytes->Size(6); more > 0; --more) {
      Edge& edge = edges_.emplace_back();
      bytes->Near(&edge.start_ns, before_ns);
      bytes->Values(&edge.time_ns, &edge.place);
      bytes->Check(edge.place < places_.size(), "an edge has a place that does not exist");
      edge.name = texts->NumberOf(bytes->Text());
      bytes->Word(&edge.link, kPathLinkCount);
      bytes->Word(&edge.cause, kPathCauseCount);
      before_ns = edge.start_ns;
    }
    EndStep(number);
  }
}

uint32_t PathEdges::NumberOf(const Place& place) {
  if (last_place_ < places_.size() && places_[last_place_] == place) return last_place_;
  const auto at = std::find(places_.begin(), places_.end(), place);
  last_place_ = static_cast<uint32_t>(at - places_.begin());
  if (at == places_.end()) places_.push_back(place);
  return last_place_;
}

void PathEdges::Add(const Edge& edge, const Place& place) {
  edges_.push_back(edge);
  edges_.back().place = NumberOf(place);
}

void PathEdges::EndStep(int64_t number) {
  if (edges_.size() > BeginOf(steps_.size())) steps_.push_back({number, edges_.size()});
}

std::vector<size_t> PathEdges::StepOrder() const {
  std::vector<size_t> order(steps_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return steps_[a].number < steps_[b].number; });
  return order;
}

void PathEdges::AppendRows(size_t step, const TextNumbers& texts, std::vector<Row>* rows) const {
  std::string_view before;
  const size_t begin = BeginOf(step);
  for (size_t i = begin; i < steps_[step].end; ++i) {
    const Edge& edge = edges_[i];
    const std::string_view name = texts.TextOf(edge.name);
    rows->push_back({steps_[step].number, static_cast<int64_t>(i - begin) + 1, before, name, &edge,
                     &places_[edge.place]});
    before = name;
  }
}

bool PathEdges::Before(const Row& a, const Row& b) {
  const auto key = [](const Row& row) {
    return std::tie(row.number, row.edge->start_ns, row.edge->time_ns, row.from, row.to,
                    row.edge->link, row.edge->cause, *row.place);
  };
  return key(a) < key(b);
}

PathFinder::Found PathFinder::Take(const Run& run, size_t place) {
  if (!found_[place]) {
    PathNames names(run, texts_.get());
    RowMakers makers;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      makers.makers.emplace_back(run, wanted_[i], &names, &found_[i].emplace());
    }
    FindCriticalPaths(run, &what_if_, &makers);
  }
  Found found = std::move(*found_[place]);
  found_[place].reset();
  return found;
}

}  // namespace oplens::prof
