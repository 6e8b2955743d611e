#ifndef OPLENS_PROF_VIEWS_PATH_PATH_ROWS_H_
#define OPLENS_PROF_VIEWS_PATH_PATH_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/path/critical_path.h"
#include "prof/run/text_numbers.h"
#include "prof/views/path/critical_path_fields.h"

// What the rows of the view critical-path are made of. Names are numbers of a TextNumbers.

namespace oplens::prof {

enum class PathRows : uint8_t { kCauses, kNames, kEdges };

/// The path of a step by cause, or by cause and name.
struct PathStepSums {
  struct Part {
    PathCause cause = PathCause::kUnknown;
    uint32_t name = 0;  ///< 0 if by cause only.
    PathSum sum;
  };
  Sum length_ns;
  Sum step_ns;
  Sum what_if_ns;
  std::vector<Part> parts;  ///< By cause and name.

  void Add(const PathStepSums& other);
  /// Merges parts of equal cause and name, in any order.
  void MergeParts();

  /// `texts`: of the names.
  void Save(const TextNumbers& texts, ByteWriter* bytes) const;
  void Load(TextNumbers* texts, ByteReader* bytes);
};

/// The edges of the paths of a rank: 32 bytes each.
class PathEdges {
 public:
  struct Place {
    std::optional<int64_t> thread;
    std::optional<int64_t> device;
    std::optional<int64_t> stream;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Edge {
    int64_t start_ns = 0;  ///< From the rank's origin.
    int64_t time_ns = 0;
    uint32_t name = 0;
    uint32_t place = 0;  ///< Index in places().
    PathLink link = PathLink::kHost;
    PathCause cause = PathCause::kUnknown;
  };
  struct Row {
    int64_t step = 0;
    int64_t number = 0;  ///< From 1.
    std::string_view from;
    std::string_view to;
    const Edge* edge = nullptr;
    const Place* place = nullptr;
  };

  size_t size() const { return edges_.size(); }
  void Add(const Edge& edge, const Place& place);
  /// Assigns all edges since the last call to this step.
  void EndStep(int64_t number);
  /// Appends the edges of `other`. `name_of(number)`: the number here of one of its texts.
  template <typename F>
  void Take(const PathEdges& other, F name_of);
  /// Calls f(const Row&) for each edge, by step, number and then the remaining members.
  template <typename F>
  void ForEach(const TextNumbers& texts, F f) const;

  /// `texts`: of the names.
  void Save(const TextNumbers& texts, ByteWriter* bytes) const;
  /// Precondition: this object is empty.
  void Load(TextNumbers* texts, ByteReader* bytes);

 private:
  struct Step {
    int64_t number = 0;
    size_t end = 0;  // End of its edges; they begin at the end of the previous step.
  };
  size_t BeginOf(size_t step) const { return step == 0 ? 0 : steps_[step - 1].end; }
  uint32_t NumberOf(const Place& place);
  /// Appends the rows of steps_[step].
  void AppendRows(size_t step, const TextNumbers& texts, std::vector<Row>* rows) const;
  static bool Before(const Row& a, const Row& b);
  /// Indices in steps_, by number of the step.
  std::vector<size_t> StepOrder() const;

  std::vector<Edge> edges_;
  std::vector<Step> steps_;
  std::vector<Place> places_;
  uint32_t last_place_ = 0;
};

struct RankPaths {
  std::map<int64_t, PathStepSums> steps;  ///< By number.
  PathEdges edges;                        ///< For PathRows::kEdges.
};

/// Finds the paths of runs once for several kinds of rows.
class PathFinder {
 public:
  struct Wanted {
    PathRows rows = PathRows::kCauses;
    size_t most_rows = SIZE_MAX;  ///< As ViewOptions::most_rows.
  };
  struct Found {
    RankPaths paths;
    Sum cut;
  };

  PathFinder(WhatIf what_if, std::vector<Wanted> wanted)
      : wanted_(std::move(wanted)), found_(wanted_.size()), what_if_(std::move(what_if)) {}

  /// The rows of `wanted[place]` of a run. The first call for a run finds the rows of all places.
  /// Call once per place and run.
  Found Take(const Run& run, size_t place);
  /// The names in all results.
  const std::shared_ptr<TextNumbers>& texts() const { return texts_; }
  /// Records which patterns have matched so far.
  const WhatIf& what_if() const { return what_if_; }

 private:
  std::vector<Wanted> wanted_;
  std::vector<std::optional<Found>> found_;
  WhatIf what_if_;
  std::shared_ptr<TextNumbers> texts_ = std::make_shared<TextNumbers>();
};

template <typename F>
void PathEdges::Take(const PathEdges& other, F name_of) {
  const size_t offset = edges_.size();
  for (const Edge& edge : other.edges_) {
    edges_.push_back(edge);
    edges_.back().name = name_of(edge.name);
    edges_.back().place = NumberOf(other.places_[edge.place]);
  }
  for (const Step& step : other.steps_) steps_.push_back({step.number, offset + step.end});
}

template <typename F>
void PathEdges::ForEach(const TextNumbers& texts, F f) const {
  const std::vector<size_t> order = StepOrder();
  std::vector<Row> rows;
  for (size_t i = 0; i < order.size();) {
    rows.clear();
    const int64_t number = steps_[order[i]].number;
    size_t together = 0;
    for (; i < order.size() && steps_[order[i]].number == number; ++i, ++together) {
      AppendRows(order[i], texts, &rows);
    }
    if (together > 1) std::sort(rows.begin(), rows.end(), Before);
    for (const Row& row : rows) f(row);
  }
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_PATH_ROWS_H_
