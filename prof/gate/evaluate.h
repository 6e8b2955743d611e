#ifndef OPLENS_PROF_GATE_EVALUATE_H_
#define OPLENS_PROF_GATE_EVALUATE_H_

#include "prof/diff/diff.h"
#include "prof/gate/expression.h"
#include "prof/gate/gate.h"

namespace oplens::prof {

/// At most so many rows are kept of a broken expression.
inline constexpr size_t kMostGateRows = 50;

/// What becomes of one expression.
///
/// A threshold without a sign is compared with the new run's value. One with a sign is compared
/// with the change, which is 0 where its verdict is kSame; where the verdict is kUnknown the change
/// counts as it is, and the message says so. Without data nothing holds: kNoData.
GateItem Evaluate(const GateExpression& expression, const Diff& diff);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_GATE_EVALUATE_H_
