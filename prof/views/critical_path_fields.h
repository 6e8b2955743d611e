#ifndef OPLENS_PROF_VIEWS_CRITICAL_PATH_FIELDS_H_
#define OPLENS_PROF_VIEWS_CRITICAL_PATH_FIELDS_H_

#include <cstdint>
#include <iterator>
#include <vector>

#include "base/saturating.h"
#include "prof/views/grouped_partial.h"
#include "prof/views/time_keys.h"
#include "prof/views/view.h"

// What the rows of the view critical-path have by whatever rules.

namespace oplens::prof {

inline constexpr int kPathWidth = 14;

inline constexpr Field kPathCauseField = {
    "cause", "Cause", "", FieldType::kText, 13, "what the time goes to", Fold::kKey};
inline constexpr Field kPathTimeField = {
    "time_ns", "Time(ns)", "ns", FieldType::kInteger, kPathWidth, "time of the edges of the path",
    Fold::kSum};
inline constexpr Field kPathNameField = {
    "name",
    "Name",
    "",
    FieldType::kName,
    Field::kShared,
    "operator, API call or kernel that the time goes to; empty where nothing is recorded",
    Fold::kKey};
inline constexpr Field kPathFields[] = {
    kRankField,
    kStepField,
    kPathCauseField,
    kPathTimeField,
    {"share_pct", "Share(%)", "%", FieldType::kDecimal, 8, "100 x time_ns / length_ns",
     Fold::kNone},
    {"edges", "Edges", "", FieldType::kInteger, 7, "edges of the path", Fold::kSum},
    {"length_ns", "Length(ns)", "ns", FieldType::kInteger, kPathWidth,
     "length of the step's path: the sum of time_ns over its rows", Fold::kNone},
    {"step_ns", "Step(ns)", "ns", FieldType::kInteger, kPathWidth,
     "length of the step with its device work", Fold::kNone},
};
inline constexpr Field kPathEdgeFields[] = {
    kRankField,
    kStepField,
    {"edge", "Edge", "", FieldType::kInteger, 6, "number of the edge in its path, from 1",
     Fold::kKey},
    {"from", "From", "", FieldType::kName, Field::kShared, "name of the edge before", Fold::kNone},
    {"to", "To", "", FieldType::kName, Field::kShared,
     "operator, API call or kernel that the edge is of; empty where nothing is recorded",
     Fold::kNone},
    {"link", "Link", "", FieldType::kText, 11, "how the edge's end depends on its beginning",
     Fold::kNone},
    {"cause", "Cause", "", FieldType::kText, 13, "what the time goes to", Fold::kNone},
    {"start_ns", "Start(ns)", "ns", FieldType::kInteger, kPathWidth,
     "from the first event of the rank", Fold::kMin},
    kPathTimeField,
    {"thread", "Thread", "", FieldType::kInteger, 16, "of the host; unknown of work of a GPU",
     Fold::kNone},
    {"device", "Dev", "", FieldType::kInteger, 3, "of a GPU's work", Fold::kNone},
    {"stream", "Stream", "", FieldType::kInteger, 6, "of a GPU's work", Fold::kNone},
};

/// Time of some edges.
struct PathSum {
  int64_t time_ns = 0;
  int64_t edges = 0;

  void Add(const PathSum& other) {
    SaturatingAdd(&time_ns, other.time_ns);
    SaturatingAdd(&edges, other.edges);
  }
};

/// The fields of rows by cause, or by cause and name.
inline std::vector<Field> PathFields(bool by_name) {
  std::vector<Field> fields(std::begin(kPathFields), std::end(kPathFields));
  if (by_name) fields.insert(fields.begin() + 3, kPathNameField);
  return fields;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CRITICAL_PATH_FIELDS_H_
