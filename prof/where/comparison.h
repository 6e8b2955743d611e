#ifndef OPLENS_PROF_WHERE_COMPARISON_H_
#define OPLENS_PROF_WHERE_COMPARISON_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "prof/table/field.h"
#include "prof/where/pattern.h"
#include "prof/where/quantity.h"

namespace oplens::prof {

/// Truth of a condition for a row. Unknown values give kUnknown; "and" is the minimum, "or"
/// maximum.
enum class Truth : uint8_t { kNo, kUnknown, kYes };

enum class Relation : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kMore,
  kMoreOrEqual,
  kMatch,
  kNoMatch,
};

/// One comparison of a field with a value that the user typed, interpreted by the field's type.
///
/// Texts are equal bytewise; a name (FieldType::kName) also as printed. A comparison holds for a
/// list if it does for an item or for the whole as printed; "!=" and "!~" hold if "=" and "~" do
/// not. An extent is its text "x,y,z"; compared with a number, its count of blocks or threads. A
/// text compared by "<" must be a number.
class Comparison {
 public:
  /// `quoted`: the value is taken literally; otherwise "unknown" (or the field's own word for it)
  /// means an unknown value. Throws UsageError with one clause if the field cannot have the value.
  Comparison(const Field& field, Relation relation, std::string value, bool quoted);

  /// Truth::kUnknown for an unknown cell, unless the comparison is with "unknown".
  Truth Test(const Cell& cell) const;

 private:
  bool IsOrder() const;
  void ReadNumber();
  bool Holds(std::partial_ordering order) const;
  template <typename Number>
  std::optional<bool> TestNumber(Number number) const;
  /// Tests the relation without its "not".
  std::optional<bool> TestText(std::string_view text) const;
  std::optional<bool> TestExtent(const Dim3& extent, const Cell& cell) const;
  template <typename ForEach>
  std::optional<bool> TestItems(const Cell& cell, ForEach for_each) const;
  /// nullopt: unknown.
  std::optional<bool> TestKnown(const Cell& cell) const;

  Field field_;
  Relation relation_;  // Without its "not".
  bool negated_ = false;
  std::string value_;
  bool is_unknown_test_ = false;
  std::optional<Quantity> number_;
  std::optional<Pattern> pattern_;
  mutable std::string scratch_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_COMPARISON_H_
