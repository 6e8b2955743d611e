#ifndef OPLENS_PROF_VIEWS_PATH_CRITICAL_PATH_FIELDS_H_
#define OPLENS_PROF_VIEWS_PATH_CRITICAL_PATH_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/sums.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/time_keys.h"

// Columns of the view critical-path, whatever the rules.

namespace oplens::prof {

inline constexpr int kPathWidth = 14;

struct PathSum {
  Sum time_ns;
  Sum edges;

  void Add(const PathSum& other) { MergeMembers(this, other); }
};

/// A row by cause, or by cause and name.
struct PathRow {
  std::string_view rank;
  std::optional<int64_t> step;
  std::string_view cause;
  std::string_view name;
  PathSum sum;
  int64_t length_ns = 0;
  std::optional<int64_t> step_ns = {};
  int64_t what_if_ns = 0;

  int64_t saved_ns() const { return length_ns - what_if_ns; }
};

inline constexpr Field kPathCauseField = {
    "cause", "Cause", "", FieldType::kText, 13, "what the time was spent on", Fold::kKey};
inline constexpr Field kPathTimeField = {
    "time_ns", "Time(ns)", "ns", FieldType::kInteger, kPathWidth, "time of the edges of the path",
    Fold::kSum};

inline constexpr Column<PathRow> kPathColumns[] = {
    {kRankField, [](const PathRow& row) { return Text(row.rank); }},
    {kStepField, [](const PathRow& row) { return Integer(row.step); }},
    {kPathCauseField, [](const PathRow& row) { return Text(row.cause); }},
    {{"name", "Name", "", FieldType::kName, Field::kShared,
      "operator, API call or kernel on which the time was spent; empty if nothing is recorded",
      Fold::kKey},
     [](const PathRow& row) { return Text(row.name); },
     Need::kNothing,
     true},
    {kPathTimeField, [](const PathRow& row) { return CellOf(row.sum.time_ns); }},
    {{"share_pct", "Share(%)", "%", FieldType::kDecimal, 8, "100 x time_ns / length_ns"},
     [](const PathRow& row) { return PercentCell(row.sum.time_ns, row.length_ns); }},
    {{"edges", "Edges", "", FieldType::kInteger, 7, "number of edges of the path", Fold::kSum},
     [](const PathRow& row) { return CellOf(row.sum.edges); }},
    {{"length_ns", "Length(ns)", "ns", FieldType::kInteger, kPathWidth,
      "length of the step's path: the sum of time_ns over its rows"},
     [](const PathRow& row) { return Integer(row.length_ns); }},
    {{"step_ns", "Step(ns)", "ns", FieldType::kInteger, kPathWidth,
      "length of the step including its device work"},
     [](const PathRow& row) { return Integer(row.step_ns); }},
    {{"what_if_ns", "WhatIf(ns)", "ns", FieldType::kInteger, kPathWidth,
      "length of the longest path with the times of --what-if"},
     [](const PathRow& row) { return Integer(row.what_if_ns); },
     Need::kNothing,
     true},
    {{"what_if_saved_ns", "WhatIfSaved(ns)", "ns", FieldType::kInteger, kPathWidth,
      "length_ns - what_if_ns"},
     [](const PathRow& row) { return Integer(row.saved_ns()); },
     Need::kNothing,
     true},
    {{"what_if_saved_pct", "WhatIfSaved(%)", "%", FieldType::kDecimal, 9,
      "100 x what_if_saved_ns / length_ns"},
     [](const PathRow& row) { return PercentCell(row.saved_ns(), row.length_ns); },
     Need::kNothing,
     true},
};

inline Columns<PathRow> PathColumns(bool by_name, bool what_if = false) {
  Columns<PathRow> columns;
  for (const Column<PathRow>& column : kPathColumns) {
    if (!column.by || (column.key == "name" ? by_name : what_if)) columns.push_back(&column);
  }
  return columns;
}

struct PathEdgeRow {
  std::string_view rank;
  std::optional<int64_t> step;
  int64_t number = 0;
  std::optional<std::string_view> from;
  std::string_view to;
  std::string_view link;
  std::string_view cause;
  std::optional<int64_t> start_ns;
  int64_t time_ns = 0;
  std::optional<int64_t> thread = {};
  std::optional<int64_t> device = {};
  std::optional<int64_t> stream = {};
};

inline constexpr Column<PathEdgeRow> kPathEdgeColumns[] = {
    {kRankField, [](const PathEdgeRow& row) { return Text(row.rank); }},
    {kStepField, [](const PathEdgeRow& row) { return Integer(row.step); }},
    {{"edge", "Edge", "", FieldType::kInteger, 6, "number of the edge in its path, from 1",
      Fold::kKey},
     [](const PathEdgeRow& row) { return Integer(row.number); }},
    {{"from", "From", "", FieldType::kName, Field::kShared, "target of the previous edge"},
     [](const PathEdgeRow& row) { return row.from ? Text(*row.from) : Cell{}; }},
    {{"to", "To", "", FieldType::kName, Field::kShared,
      "operator, API call or kernel of the edge; empty if nothing is recorded"},
     [](const PathEdgeRow& row) { return Text(row.to); }},
    {{"link", "Link", "", FieldType::kText, 11, "how the edge's end depends on its beginning"},
     [](const PathEdgeRow& row) { return Text(row.link); }},
    {{"cause", "Cause", "", FieldType::kText, 13, "what the time was spent on"},
     [](const PathEdgeRow& row) { return Text(row.cause); }},
    {{"start_ns", "Start(ns)", "ns", FieldType::kInteger, kPathWidth,
      "start of the edge, from the first event of the rank", Fold::kMin},
     [](const PathEdgeRow& row) { return Integer(row.start_ns); }},
    {kPathTimeField, [](const PathEdgeRow& row) { return Integer(row.time_ns); }},
    {{"thread", "Thread", "", FieldType::kInteger, 16, "host thread; unknown for GPU work"},
     [](const PathEdgeRow& row) { return Integer(row.thread); }},
    {{"device", "Dev", "", FieldType::kInteger, 3, "GPU of GPU work"},
     [](const PathEdgeRow& row) { return Integer(row.device); }},
    {{"stream", "Stream", "", FieldType::kInteger, 6, "stream of GPU work"},
     [](const PathEdgeRow& row) { return Integer(row.stream); }},
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_CRITICAL_PATH_FIELDS_H_
