#include "test/views/path_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "prof/run/class_times.h"
#include "prof/run/interval_set.h"

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

void CheckEdges(const StepPath& path) {
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
  EXPECT_LE(path.length_ns, LengthOf(path.span));
}

}  // namespace

std::vector<StepPath> PathsOf(const Run& run, const std::vector<std::string>& what_if) {
  std::vector<StepPath> paths;
  ForEachCriticalPath(run, WhatIf(what_if), [&](const StepPath& path) { paths.push_back(path); });
  return paths;
}

void CheckPaths(const Run& run) {
  const std::vector<int64_t> longest = LongestStreams(run);
  size_t i = 0;
  ForEachCriticalPath(run, WhatIf(), [&](const StepPath& path) {
    SCOPED_TRACE(path.number);
    CheckEdges(path);
    EXPECT_GE(path.length_ns, longest[i]);
    EXPECT_EQ(path.what_if_ns, path.length_ns);
    ++i;
  });
  EXPECT_EQ(i, longest.size());
  const std::vector<std::string> same = {"scale(*,1)"};
  ForEachCriticalPath(run, WhatIf(same),
                      [](const StepPath& path) { EXPECT_EQ(path.what_if_ns, path.length_ns); });
  const std::vector<std::string> less = {"scale(compute,0.5)", "scale(copy,0)"};
  ForEachCriticalPath(run, WhatIf(less), [](const StepPath& path) {
    EXPECT_LE(path.what_if_ns, path.length_ns);
    EXPECT_GE(path.what_if_ns, 0);
  });
}

}  // namespace oplens::prof
