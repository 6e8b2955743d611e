#include "prof/where/marked_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"

namespace oplens::prof {

void FailAt(std::string_view option, std::string_view what, std::string_view text, size_t place) {
  constexpr size_t kBefore = 60;
  constexpr size_t kShown = 90;
  place = std::min(place, text.size());
  const size_t begin = place > kBefore ? place - kBefore : 0;
  std::string shown(text.substr(begin, kShown));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  throw UsageError(
      fmt::format("{}: {}\n  {}\n  {:>{}}", option, what, shown, '^', place - begin + 1));
}

}  // namespace oplens::prof
