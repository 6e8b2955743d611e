#include "parse/join/named_pass.h"

namespace oplens::parse {
namespace {

constexpr size_t kPassLength = 3;  // "(F)"

}  // namespace

Phase PassNamedBy(std::string_view text) {
  if (text.size() <= kPassLength || text.back() != ')') return Phase::kUnknown;
  const std::string_view pass = text.substr(text.size() - kPassLength);
  if (pass == "(F)") return Phase::kForward;
  return pass == "(B)" || pass == "(W)" ? Phase::kBackward : Phase::kUnknown;
}

std::string_view WorkNamedBy(std::string_view text) {
  if (PassNamedBy(text) == Phase::kUnknown) return {};
  text.remove_suffix(kPassLength);
  return text;
}

}  // namespace oplens::parse
