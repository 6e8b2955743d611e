#ifndef OPLENS_PROF_VIEWS_ROOFLINE_FIELDS_H_
#define OPLENS_PROF_VIEWS_ROOFLINE_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "prof/table/field.h"

namespace oplens::prof {

/// A word of --by.
struct RooflineKey {
  enum class Kind : uint8_t { kRank, kPhase, kLayer };
  Kind kind;
  Field field;
};

/// UsageError, naming the valid ones, for another word.
const RooflineKey& RooflineKeyOf(std::string_view word);

std::span<const Field> RooflineFields();
/// How many of these are keys; those of --by come behind them.
inline constexpr size_t kRooflineKeyCount = 5;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_ROOFLINE_FIELDS_H_
