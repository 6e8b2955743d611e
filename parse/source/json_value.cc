#include "parse/source/json_value.h"

#include <cmath>
#include <limits>

#include "base/parse_number.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// Beyond it, some doubles without a fraction are no 64-bit integers.
constexpr double kMostWhole = 9.2e15;

}  // namespace

bool TakeInt(element value, int64_t* result) {
  switch (value.type()) {
    case element_type::INT64:
      *result = value.get_int64().value_unsafe();
      return true;
    case element_type::DOUBLE: {
      const double number = value.get_double().value_unsafe();
      if (!(std::fabs(number) < kMostWhole) || number != std::trunc(number)) return false;
      *result = static_cast<int64_t>(number);
      return true;
    }
    case element_type::STRING:
      return ParseNumber(TextOf(value), result);
    default:
      return false;
  }
}

bool TakeInt(element value, int32_t* result) {
  int64_t wide = 0;
  if (!TakeInt(value, &wide) || wide < std::numeric_limits<int32_t>::min() ||
      wide > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  *result = static_cast<int32_t>(wide);
  return true;
}

bool TakeFloat(element value, float* result) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) return false;
  *result = static_cast<float>(number);
  return true;
}

std::string_view TextOf(element value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

}  // namespace oplens::parse
