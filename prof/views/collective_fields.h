#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_FIELDS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_FIELDS_H_

#include <span>
#include <string_view>
#include <vector>

#include "ops/dtype.h"
#include "prof/table/field.h"

namespace oplens::prof {

/// The fields of one call.
std::span<const Field> CollectiveCallFields();
/// The key fields of a word of --by; empty for another word.
std::vector<Field> CollectiveKeyFields(std::string_view word);
/// The fields of calls that are alike, without their keys.
std::span<const Field> CollectiveSumFields();

/// A data type as these fields have it; "" where it is not known.
std::string_view ShownDType(ops::DType dtype);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_FIELDS_H_
