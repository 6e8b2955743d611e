#ifndef OPLENS_PROF_WHERE_QUANTITY_H_
#define OPLENS_PROF_WHERE_QUANTITY_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oplens::prof {

/// A number that somebody typed, in the unit of the field that it is compared with.
struct Quantity {
  double value = 0;
  std::optional<int64_t> whole;  ///< The same where it is a whole number of 64 bits.

  /// How a number of a row compares with it.
  std::partial_ordering Compare(int64_t number) const;
  std::partial_ordering Compare(double number) const;
};

/// Reads "12", "1.5us", "64MiB", "5%", "2G" as a number of a field whose unit is `unit` ("ns", "B",
/// "%", "" ...). Without a unit the number is in the field's own; k, M, G and T are powers of 1000
/// of it. nullopt: `wrong` says why, in one clause.
std::optional<Quantity> ReadQuantity(std::string_view text, std::string_view unit,
                                     std::string* wrong);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_QUANTITY_H_
