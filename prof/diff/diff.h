#ifndef OPLENS_PROF_DIFF_DIFF_H_
#define OPLENS_PROF_DIFF_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/field.h"

namespace oplens::prof {

/// What became of something from the base to the new run.
enum class Change : uint8_t {
  kSame,
  kAdded,    ///< The base has no such row.
  kRemoved,  ///< The new run has none.
  kSlower,   ///< The figure is larger.
  kFaster,   ///< The figure is less.
  kCount,    ///< It is called more or less often in a step.
  kShape,    ///< The same call of the same layer on other shapes.
  kKernel,   ///< The same call on the same shapes, done by other kernels.
};
/// "same", "added", ...
std::string_view WordOf(Change change);

/// What can be said of a change.
enum class Verdict : uint8_t {
  kUnknown,  ///< Too few steps to tell it from their spread.
  kSame,     ///< Within the noise of the steps.
  kChanged,
};
/// "unknown", "same", "changed"
std::string_view WordOf(Verdict verdict);

/// A figure on both sides. Of what adds up the mean of a step (of a rank).
struct Figure {
  std::optional<double> base;
  std::optional<double> now;
  /// Half the width of what the spread of the steps explains (prof/diff/noise.h); nullopt where
  /// there are too few steps to say.
  std::optional<double> band;
  Verdict verdict = Verdict::kUnknown;
  Change change = Change::kSame;
  bool adds_up = true;  ///< What a run lacks of it is none. Of a ratio or a largest it is unknown.

  /// nullopt where both sides are unknown, or one of what does not add up.
  std::optional<double> delta() const;
  /// Percent of the base; nullopt without one.
  std::optional<double> delta_pct() const;
};

/// A row of a view on both sides.
struct DiffRow {
  std::vector<std::string> keys;  ///< Of the new run; of a removed row the base's. "": unknown.
  std::vector<std::string> base_keys;  ///< Where those differ; else empty.
  std::vector<Figure> figures;         ///< In the order of DiffTable::figures.
};

/// A view of both runs, joined by its key fields.
struct DiffTable {
  std::string view;
  std::vector<Field> keys;
  std::vector<Field> figures;
  /// Those of class `same` too. The largest change of the first figure first, equal ones by key.
  std::vector<DiffRow> rows;
  /// How many of the figures are printed, from the first; the others are there for conditions.
  size_t shown_figures = 0;
  /// The changes of the first figure add up to the change of the total: their shares are of it.
  bool explains_total = false;

  /// The place of a figure by its key; nullopt: there is none.
  std::optional<size_t> FigureOf(std::string_view key) const;
};

/// Something in which the two runs differ besides what is compared, such as the GPU.
struct Difference {
  std::string fact;      ///< "gpu", "steps", ...
  std::string base;      ///< As text; "": unknown.
  std::string now;       ///< The same.
  bool decides = false;  ///< Times of the two runs cannot be compared.
};

/// A part of the change of the total.
struct Cause {
  std::string cause;     ///< A word: "kernels slower"
  double delta_ns = 0;   ///< A step. All causes together are the change of the total.
  std::string sentence;  ///< What it is, without its figure.
  Verdict verdict = Verdict::kUnknown;
};

/// Two runs compared.
struct Diff {
  std::string base_name;
  std::string new_name;
  int64_t base_steps = 0;  ///< Whole steps, of all ranks.
  int64_t new_steps = 0;
  Figure total;  ///< Mean length of a step with its work on the GPU, ns.
  std::vector<Difference> differences;
  std::vector<Cause> causes;  ///< The largest first.
  std::string verdict;        ///< One line.
  std::vector<DiffTable> tables;
  std::vector<std::string> notes;
  /// What of the two runs was not read, such as the end of a file; "" where all of it was.
  std::string lost = {};

  const DiffTable* TableOf(std::string_view view) const;
};

/// What the sum of rows of a table is on both sides.
struct RowSum {
  size_t rows = 0;  ///< That were added up.
  Figure figure;
};

/// Adds up a figure of rows (of a ratio its parts; of minima and maxima the least and the largest).
/// The band is that of independent rows: the root of the sum of the squares. `figure`: its place in
/// DiffTable::figures.
RowSum SumOf(const DiffTable& table, size_t figure, const std::vector<const DiffRow*>& rows);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_DIFF_H_
