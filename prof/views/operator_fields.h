#ifndef OPLENS_PROF_VIEWS_OPERATOR_FIELDS_H_
#define OPLENS_PROF_VIEWS_OPERATOR_FIELDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prof/table/field.h"

namespace oplens::prof {

/// What rows of operators may be split by, beside the name.
enum class OperatorKey : uint8_t { kShape, kLayer, kStack, kPhase, kStep, kRank };

/// The words of --by, each once. UsageError, naming the valid ones, for another word.
std::vector<OperatorKey> OperatorKeysOf(const std::vector<std::string>& by);

const Field& FieldOf(OperatorKey key);

/// The fields of the view `operators` without those that --by adds.
std::span<const Field> OperatorsFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OPERATOR_FIELDS_H_
