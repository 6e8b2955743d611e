#include "prof/where/row_filter.h"

#include <fmt/format.h>

namespace oplens::prof {

std::string MatchCount::Sentence(std::string_view what) const {
  return fmt::format("{} of {} {} match --where", matching, rows, what);
}

}  // namespace oplens::prof
