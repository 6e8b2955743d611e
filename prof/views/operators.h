#ifndef OPLENS_PROF_VIEWS_OPERATORS_H_
#define OPLENS_PROF_VIEWS_OPERATORS_H_

#include <memory>
#include <span>
#include <vector>

#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kOperatorsNeeds = {};

/// What each operator cost (docs/views.md, "operators"). `by` takes shape, layer, stack, phase,
/// step, rank; UsageError for other words.
std::unique_ptr<Partial> MakeOperators(const ViewOptions& options);
/// As View::make_together: prices of kernels and places of calls are kept once, and sums are made
/// one after the other.
std::vector<std::unique_ptr<Partial>> MakeOperatorsTogether(std::span<const ViewOptions> options);

/// Its fields without those that `by` adds.
std::span<const Field> OperatorsFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OPERATORS_H_
