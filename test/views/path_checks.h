#ifndef OPLENS_TEST_VIEWS_PATH_CHECKS_H_
#define OPLENS_TEST_VIEWS_PATH_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "prof/path/critical_path.h"

namespace oplens::prof {

class Run;

/// A path with its edges in order of time: each starts where the previous one ends.
struct StepPathEdges : StepPath {
  std::vector<PathEdge> edges;
};

/// The critical paths of all steps of a run.
std::vector<StepPathEdges> PathsOf(const Run& run, const std::vector<std::string>& what_if = {});

/// Expects what holds of every path: its edges follow each other from the beginning of the step to
/// its end and add up to the length, which is that of the step and no less than the longest union
/// of one stream's work in it; other times change it as they must.
void CheckPaths(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_TEST_VIEWS_PATH_CHECKS_H_
