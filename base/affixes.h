#ifndef OPLENS_BASE_AFFIXES_H_
#define OPLENS_BASE_AFFIXES_H_

#include <string_view>

namespace oplens {

/// Removes `prefix` from the beginning of `text`; false, and nothing is removed, if it is not
/// there.
inline bool DropPrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

/// Likewise from the end.
inline bool DropSuffix(std::string_view suffix, std::string_view* text) {
  if (!text->ends_with(suffix)) return false;
  text->remove_suffix(suffix.size());
  return true;
}

}  // namespace oplens

#endif  // OPLENS_BASE_AFFIXES_H_
