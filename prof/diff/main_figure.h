#ifndef OPLENS_PROF_DIFF_MAIN_FIGURE_H_
#define OPLENS_PROF_DIFF_MAIN_FIGURE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/table/field.h"

namespace oplens::prof {

/// A figure that a view does not have: the sum of some that it has. It is beyond
/// DiffTable::shown_figures.
struct SummedFigure {
  std::string_view view;
  Field field;
  std::span<const std::string_view> parts;
};

/// Null: the view has none.
const SummedFigure* SummedFigureOf(std::string_view view);

/// Index of the figure by which rows are compared where only one is shown: the most important time
/// that adds up and that any row has, else the first figure that is shown; nullopt: none is known.
std::optional<size_t> MainFigureOf(const DiffTable& table);

/// The rows of a table by some of its keys, summed (SumOf), largest change first. Removed rows join
/// those to which most of their base's time went, such as that of a renamed layer. `keys`: at least
/// one key of the table.
DiffTable GroupedBy(const DiffTable& table, std::span<const std::string> keys);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_MAIN_FIGURE_H_
