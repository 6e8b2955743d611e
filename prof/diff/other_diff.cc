#include "prof/diff/other_diff.h"

#include <fmt/format.h>

#include <set>

#include "prof/table/kept_rows.h"
#include "prof/views/rank_order.h"

namespace oplens::prof {

std::string_view FirstRank(const DiffInput& side, std::vector<std::string>* notes) {
  const KeptRows& rows = side.tables->At(0);
  const size_t column = rows.ColumnOf("rank").value_or(0);
  std::set<std::string_view, RankBefore> ranks;
  for (size_t row = 0; row < rows.size(); ++row) ranks.insert(rows.Text(row, column));
  if (ranks.empty()) return {};
  if (ranks.size() > 1) {
    notes->push_back(
        fmt::format("{} has {} ranks, of which these rules compare one: {}; for another one give "
                    "its file",
                    side.name, ranks.size(), *ranks.begin()));
  }
  return *ranks.begin();
}

}  // namespace oplens::prof
