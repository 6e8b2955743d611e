#ifndef OPLENS_PROF_VIEWS_OPERATORS_H_
#define OPLENS_PROF_VIEWS_OPERATORS_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kOperatorsNeeds = {};

/// What each operator cost (docs/views.md, "operators"). `by` takes shape, layer, stack, phase,
/// step, rank; UsageError for other words. With Compat::kTensorBoard the rows of
/// prof/views/tb_operators.h.
std::unique_ptr<Partial> MakeOperators(const ViewOptions& options);

/// Its fields without those that `by` adds.
std::span<const Field> OperatorsFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OPERATORS_H_
