#include "ops/kernels/moved_type.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace oplens::ops {
namespace {

struct TypeSize {
  std::string_view name;
  int64_t bytes;
};

// As demangled.
constexpr TypeSize kTypes[] = {
    {"bool", 1},
    {"c10::BFloat16", 2},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e5m2fnuz", 1},
    {"c10::Half", 2},
    {"c10::complex<double>", 16},
    {"c10::complex<float>", 8},
    {"double", 8},
    {"float", 4},
    {"int", 4},
    {"long", 8},
    {"short", 2},
    {"signed char", 1},
    {"unsigned char", 1},
};

constexpr std::string_view kOpaque = "OpaqueType<";

// The size in "at::native::(anonymous namespace)::OpaqueType<4u>".
std::optional<int64_t> OpaqueBytes(std::string_view type) {
  const size_t at = type.find(kOpaque);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = type.substr(at + kOpaque.size());
  int64_t bytes = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), bytes);
  const bool sized = error == std::errc() && bytes > 0 && stop != number.data() + number.size() &&
                     (*stop == 'u' || *stop == '>');
  return sized ? std::optional(bytes) : std::nullopt;
}

// The first template argument, which may have arguments itself.
std::string_view FirstArgument(std::string_view arguments) {
  int depth = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const char c = arguments[i];
    if (c == '<' || c == '(') ++depth;
    if (depth == 0 && (c == ',' || c == '>')) return arguments.substr(0, i);
    if (c == '>' || c == ')') --depth;
  }
  return {};
}

// PyTorch kernels whose first template argument is the type they move.
constexpr std::string_view kByType[] = {
    "CatArrayBatchedCopy",
};

}  // namespace

std::optional<int64_t> MovedElementBytes(std::string_view long_name) {
  const auto* kernel = std::find_if(
      std::begin(kByType), std::end(kByType),
      [&](std::string_view word) { return long_name.find(word) != std::string_view::npos; });
  if (kernel == std::end(kByType)) return std::nullopt;
  const size_t open = long_name.find('<', long_name.find(*kernel));
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view type = FirstArgument(long_name.substr(open + 1));
  if (const std::optional<int64_t> opaque = OpaqueBytes(type)) return opaque;
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const TypeSize& known) { return known.name == type; });
  return row == std::end(kTypes) ? std::nullopt : std::optional(row->bytes);
}

}  // namespace oplens::ops
