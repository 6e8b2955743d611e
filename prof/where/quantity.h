#ifndef OPLENS_PROF_WHERE_QUANTITY_H_
#define OPLENS_PROF_WHERE_QUANTITY_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oplens::prof {

/// A number that the user typed, in the unit of its field.
struct Quantity {
  double value = 0;
  std::optional<int64_t> whole;  ///< Set if it is a 64-bit integer.

  /// Compares a row's number with it.
  std::partial_ordering Compare(int64_t number) const;
  std::partial_ordering Compare(double number) const;
};

/// Parses "12", "1.5us", "64MiB", "5%", "2G" for a field with unit `unit` ("ns", "B", "%", "" ...).
/// Without a unit the number is in the field's own; k, M, G and T multiply by powers of 1000.
/// nullopt: `*wrong` says why, in one clause.
std::optional<Quantity> ReadQuantity(std::string_view text, std::string_view unit,
                                     std::string* wrong);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_QUANTITY_H_
