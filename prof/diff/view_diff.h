#ifndef OPLENS_PROF_DIFF_VIEW_DIFF_H_
#define OPLENS_PROF_DIFF_VIEW_DIFF_H_

#include <span>

#include "prof/diff/diff.h"
#include "prof/diff/side.h"
#include "prof/table/field.h"
#include "prof/table/kept_rows.h"

namespace oplens::prof {

/// The rows of one view of one side.
struct ViewRows {
  const KeptRows* plain = nullptr;    ///< As the view has them.
  const KeptRows* by_step = nullptr;  ///< By rank and step too; null: it cannot.
};

/// Whether rows with these can be joined, and say something then.
bool HasKeysAndFigures(std::span<const Field> fields);

/// A view of both runs joined by its key fields, but for rank and step, over which it is the mean.
/// What adds up is the mean of the whole steps (where the view tells no steps, its sum over their
/// number), a ratio that of its sums, the least and the largest those of the steps. Means and
/// quantiles are those of the whole run.
DiffTable DiffView(const Side& base, const ViewRows& base_rows, const Side& now,
                   const ViewRows& now_rows);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_VIEW_DIFF_H_
