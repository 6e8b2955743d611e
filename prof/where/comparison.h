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

/// Whether a condition holds of a row. What is unknown neither holds nor fails to: "and" is the
/// least of two, "or" the largest.
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

/// One comparison of a condition: a field with a value that somebody typed, typed by the field.
///
/// Texts are equal by all their bytes; a name (FieldType::kName) also as it is printed. Of a list a
/// comparison holds if it does of an item, or of the whole as it is printed; "!=" and "!~" if "="
/// and "~" do not. An extent is its text "x,y,z"; with a number, how many blocks or threads it has.
/// A text that is compared with "<" must be a number.
class Comparison {
 public:
  /// `quoted`: the value is a text, whatever it says; else "unknown" (or the field's own word for
  /// it) is no value. Throws UsageError with one clause for a value that the field cannot have.
  Comparison(const Field& field, Relation relation, std::string value, bool quoted);

  /// Truth::kUnknown where the cell is unknown, unless that is what is asked.
  Truth Test(const Cell& cell) const;

 private:
  bool IsOrder() const;
  void ReadNumber();
  bool Holds(std::partial_ordering order) const;
  template <typename Number>
  std::optional<bool> TestNumber(Number number) const;
  /// Of "=", "~" and orders, the relation without its "not".
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
  bool asks_unknown_ = false;
  std::optional<Quantity> number_;
  std::optional<Pattern> pattern_;
  mutable std::string scratch_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_COMPARISON_H_
