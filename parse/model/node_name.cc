#include "parse/model/node_name.h"

#include "base/ascii.h"

namespace oplens {

std::string_view WithoutSequence(std::string_view text) {
  for (const std::string_view mark : {", seq", ", stashed seq"}) {
    const size_t at = text.rfind(mark);
    if (at != std::string_view::npos) return text.substr(0, at);
  }
  return text;
}

std::string BareName(std::string_view text) {
  std::string_view name = WithoutSequence(text);
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  name = name.substr(0, name.rfind("Backward"));
  std::string bare;
  for (const char c : name) {
    if (IsLetter(c) || IsDigit(c)) bare += ToLower(c);
  }
  return bare;
}

bool NamesFit(std::string_view bare_node, std::string_view bare_op) {
  return !bare_node.empty() && !bare_op.empty() &&
         (bare_node.ends_with(bare_op) || bare_op.ends_with(bare_node));
}

bool IsOperatorNode(std::string_view text) {
  const std::string_view name = WithoutSequence(text);
  const size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < name.size() &&
         name.substr(0, last + 1).ends_with("Backward");
}

}  // namespace oplens
