#include "test/views/path_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

/// The longest that one stream is busy in each step.
std::vector<int64_t> LongestStreams(const Run& run) {
  std::map<std::pair<int32_t, int32_t>, std::vector<Interval>> streams;
  for (const DeviceEvent& event : run.device_work().events()) {
    streams[{event.device_id, event.stream_id}].push_back({event.start_ns, event.end_ns});
  }
  std::vector<int64_t> longest(run.steps().all().size(), 0);
  for (auto& [key, intervals] : streams) {
    const IntervalSet busy(std::move(intervals));
    for (size_t i = 0; i < longest.size(); ++i) {
      longest[i] = std::max(longest[i], busy.Within(run.steps().all()[i].span).length_ns());
    }
  }
  return longest;
}

void CheckEdges(const StepPathEdges& path) {
  int64_t now_ns = path.span.start_ns;
  int64_t sum_ns = 0;
  int64_t wrong = 0;
  for (const PathEdge& edge : path.edges) {
    if (edge.start_ns != now_ns || edge.time_ns <= 0) ++wrong;
    now_ns = edge.start_ns + edge.time_ns;
    sum_ns += edge.time_ns;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(sum_ns, path.length_ns);
  if (!path.edges.empty()) {
    EXPECT_EQ(now_ns, path.span.end_ns);
  }
  EXPECT_EQ(path.length_ns, LengthOf(path.span));
}

class PathKeeper : public PathTaker {
 public:
  void TakeEdge(const PathEdge& edge) override { edges_.push_back(edge); }
  void TakeStep(const StepPath& path) override {
    paths_.push_back({path, std::exchange(edges_, {})});
  }
  std::vector<StepPathEdges> Take() { return std::move(paths_); }

 private:
  std::vector<PathEdge> edges_;
  std::vector<StepPathEdges> paths_;
};

}  // namespace

std::vector<StepPathEdges> PathsOf(const Run& run, const std::vector<std::string>& what_if) {
  WhatIf changes(what_if);
  PathKeeper keeper;
  FindCriticalPaths(run, &changes, &keeper);
  return keeper.Take();
}

void CheckPaths(const Run& run) {
  const std::vector<int64_t> longest = LongestStreams(run);
  const std::vector<StepPathEdges> paths = PathsOf(run);
  const std::vector<StepPathEdges> same = PathsOf(run, {"scale(*,1)"});
  const std::vector<StepPathEdges> less = PathsOf(run, {"scale(compute,0.5)", "scale(copy,0)"});
  ASSERT_EQ(paths.size(), longest.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    SCOPED_TRACE(paths[i].number);
    CheckEdges(paths[i]);
    EXPECT_GE(paths[i].length_ns, longest[i]);
    EXPECT_EQ(paths[i].what_if_ns, paths[i].length_ns);
    EXPECT_EQ(same[i].what_if_ns, paths[i].length_ns);
    EXPECT_LE(less[i].what_if_ns, paths[i].length_ns);
    EXPECT_GE(less[i].what_if_ns, 0);
  }
}

}  // namespace oplens::prof
