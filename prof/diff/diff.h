#ifndef OPLENS_PROF_DIFF_DIFF_H_
#define OPLENS_PROF_DIFF_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/field.h"
#include "prof/verdicts/noise.h"

namespace oplens::prof {

/// What became of something from the base to the new run.
enum class Change : uint8_t {
  kSame,
  kAdded,    ///< The base has no such row.
  kRemoved,  ///< The new run has none.
  kSlower,   ///< The figure is larger.
  kFaster,   ///< The figure is smaller.
  kCount,    ///< It is called more or less often per step.
  kShape,    ///< The same call of the same layer with other shapes.
  kKernel,   ///< The same call with the same shapes, by other kernels.
};
/// "same", "added", ...
std::string_view WordOf(Change change);

/// A figure of both sides. For figures that add up, the mean per step (and rank).
struct Figure {
  std::optional<double> base;
  std::optional<double> now;
  /// Half-width of the noise band (prof/verdicts/noise.h); nullopt with too few steps.
  std::optional<double> band;
  Verdict verdict = Verdict::kUnknown;
  Change change = Change::kSame;
  bool adds_up = true;  ///< A missing value is 0; for ratios and maxima it is unknown.

  /// nullopt if both sides are unknown, or either one unless it adds up.
  std::optional<double> delta() const;
  /// Percent of the base; nullopt without one.
  std::optional<double> delta_pct() const;
};

struct DiffRow {
  std::vector<std::string> keys;  ///< Of the new run; for a removed row of the base. "": unknown.
  std::vector<std::string> base_keys;  ///< If they differ; otherwise empty.
  std::vector<Figure> figures;         ///< In the order of DiffTable::figures.
};

struct DiffTable {
  std::string view;
  std::vector<Field> keys;
  std::vector<Field> figures;
  /// Including those of class `same`. Largest change of the first figure first, ties by key.
  std::vector<DiffRow> rows;
  /// Number of leading figures that are printed; the others are for conditions.
  size_t shown_figures = 0;
  /// The figure of a row where one is shown (MainFigureOf); nullopt: none is known.
  std::optional<size_t> main = {};
  /// The first figure's changes add up to the change of the total; shares are of that.
  bool explains_total = false;

  /// The index of a figure by its key; nullopt: there is none.
  std::optional<size_t> FigureOf(std::string_view key) const;
};

/// A further difference of the runs, such as the GPU.
struct Difference {
  std::string fact;      ///< "gpu", "steps", ...
  std::string base;      ///< "": unknown.
  std::string now;       ///< "": unknown.
  bool decides = false;  ///< The runs' times cannot be compared.
};

struct Cause {
  std::string cause;     ///< A word: "kernels slower"
  double delta_ns = 0;   ///< Per step. All causes add up to the change of the total.
  std::string sentence;  ///< Description, without its figure.
  Verdict verdict = Verdict::kUnknown;
};

struct Diff {
  std::string base_name;
  std::string new_name;
  int64_t base_steps = 0;  ///< Complete steps of all ranks.
  int64_t new_steps = 0;
  Figure total;  ///< Mean length of a step with its GPU work, ns.
  std::vector<Difference> differences;
  std::vector<Cause> causes;  ///< Largest first.
  std::string verdict;        ///< One line.
  std::vector<DiffTable> tables;
  std::vector<std::string> notes;
  /// Data of the runs that was not read, such as the end of a file; "" if all was read.
  std::string lost = {};

  const DiffTable* TableOf(std::string_view view) const;
};

struct RowSum {
  size_t rows = 0;  ///< Number of summed rows.
  Figure figure;
};

/// Sums a figure of rows; for a ratio its parts, for minima and maxima the extreme. The band is the
/// root of the sum of squares, as for independent rows. `figure`: index in DiffTable::figures.
RowSum SumOf(const DiffTable& table, size_t figure, const std::vector<const DiffRow*>& rows);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_DIFF_H_
