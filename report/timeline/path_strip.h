#ifndef OPLENS_REPORT_TIMELINE_PATH_STRIP_H_
#define OPLENS_REPORT_TIMELINE_PATH_STRIP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::report {

/// The critical path of a step from afar: buckets of equal length, each with the cause that has the
/// most time in it.
///
///     path     |-- python --|- launch -|------- compute -------|-- sync --|
///     buckets  |  python  |  python  |  compute  |  compute  |  compute  |
struct PathStrip {
  /// Consecutive buckets of one cause; nullopt: the path has no time in them.
  struct Stretch {
    std::optional<prof::PathCause> cause;
    size_t buckets = 0;
    friend bool operator==(const Stretch&, const Stretch&) = default;
  };

  std::string rank;
  int64_t step = 0;
  int64_t start_ns = 0;  ///< Of the first bucket, relative to the origin of the rank.
  int64_t bucket_ns = 1;
  std::vector<Stretch> stretches;
};

/// Makes a strip for each step, of edges in the order of FindCriticalPaths. Keeps the edges of one
/// step, 24 bytes each.
class StripMaker {
 public:
  /// `steps`: of the run. `most_buckets`: of all its strips; steps that would get fewer than
  /// kLeastBuckets each have strips from the first on, as many as there is room for.
  StripMaker(std::string rank, int64_t origin_ns, size_t steps, size_t most_buckets);

  void TakeEdge(const prof::PathEdge& edge) {
    edges_.push_back({edge.start_ns, edge.time_ns, edge.cause});
  }
  void TakeStep(const prof::StepPath& step);

  std::vector<PathStrip> Take() { return std::move(strips_); }

  static constexpr size_t kLeastBuckets = 64;
  static constexpr size_t kMostBuckets = 1024;  ///< Of a strip.

 private:
  struct Edge {
    int64_t start_ns;
    int64_t time_ns;
    prof::PathCause cause;
  };

  std::string rank_;
  int64_t origin_ns_;
  size_t buckets_;      // Of a strip.
  size_t most_strips_;  // Of the run.
  std::vector<Edge> edges_;
  std::vector<PathStrip> strips_;
};

/// The strips as JSON: docs/report_format.md.
std::string StripsJson(const std::vector<PathStrip>& strips);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_PATH_STRIP_H_
