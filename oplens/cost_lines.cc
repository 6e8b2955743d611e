#include "oplens/cost_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "oplens/text.h"

namespace oplens::screen {
namespace {

constexpr const char* kUnknown = "-";

std::string PercentOrUnknown(std::optional<double> pct) {
  return pct ? PercentText(*pct) : kUnknown;
}
std::string CostLinesRate(std::optional<double> rate) { return rate ? RateText(*rate) : kUnknown; }

/// A column after the names.
struct CostColumn {
  std::string_view header;
  size_t width;
  int importance;  ///< The lowest is dropped first.
  std::string (*text)(const Cost& cost);
};

// In display order.
constexpr CostColumn kColumns[] = {
    {"share %", 7, 7, [](const Cost& cost) { return PercentText(cost.share_pct); }},
    {"time", 7, 5, [](const Cost& cost) { return TimeText(cost.total_ns); }},
    {"comm", 7, 0,
     [](const Cost& cost) {
       return cost.communication_ns ? TimeText(*cost.communication_ns) : std::string(kUnknown);
     }},
    {"TFLOP/s", 7, 3, [](const Cost& cost) { return CostLinesRate(cost.tflops); }},
    {"GB/s", 6, 2, [](const Cost& cost) { return CostLinesRate(cost.gbps); }},
    {"TC %", 5, 4, [](const Cost& cost) { return PercentOrUnknown(cost.tc_pct); }},
    {"bound", 7, 6, [](const Cost& cost) { return cost.bound.empty() ? kUnknown : cost.bound; }},
    {"roof %", 6, 1, [](const Cost& cost) { return PercentOrUnknown(cost.roof_pct); }},
};
constexpr size_t kLeastName = 24;
constexpr size_t kMostCellName = 80;
constexpr size_t kCostLinesBetween = 2;

/// The columns with known values that fit beside names of at least kLeastName characters.
std::vector<const CostColumn*> ColumnsFor(size_t columns, const Costs& costs) {
  std::vector<const CostColumn*> shown;
  size_t width = 2 + kLeastName;
  for (const CostColumn& column : kColumns) {
    const bool known = std::ranges::any_of(
        costs.rows, [&](const Cost& cost) { return column.text(cost) != kUnknown; });
    if (!known) continue;
    shown.push_back(&column);
    width += kCostLinesBetween + column.width;
  }
  while (width > columns && !shown.empty()) {
    const auto least = std::ranges::min_element(
        shown, {}, [](const CostColumn* column) { return column->importance; });
    width -= kCostLinesBetween + (*least)->width;
    shown.erase(least);
  }
  return shown;
}

std::string NameOf(const Cost& cost, bool paths, size_t width) {
  const std::string name = cost.name.empty() ? "(no op)" : Shown(cost.name);
  std::string behind;
  if (paths) {
    if (cost.alike > 1) behind = fmt::format(" x{}", cost.alike);
  } else if (!cost.largest.empty()) {
    behind = fmt::format(" [{}]", CutRight(Shown(cost.largest), width / 3));
  }
  const size_t room = width - std::min(width, Width(behind));
  // The innermost layer stays.
  return (paths ? CutLeft(name, room) : CutRight(name, room)) + behind;
}

}  // namespace

Section CostLines(const CostTable& table, const Costs& costs) {
  const std::vector<const CostColumn*> columns = ColumnsFor(table.columns, costs);
  size_t room = table.columns - 2;
  for (const CostColumn* column : columns) room -= kCostLinesBetween + column->width;
  Section lines;
  std::string header = PadRight(std::string(table.title), room + 2);
  std::vector<std::string> titles = {std::string(table.title)};
  for (const CostColumn* column : columns) {
    header += PadLeft(std::string(column->header), kCostLinesBetween + column->width);
    titles.emplace_back(column->header);
  }
  lines.push_back({Style::kTitle, std::move(header), std::move(titles)});
  const auto add_line = [&](const Cost& cost) {
    std::string line = "  " + PadRight(NameOf(cost, table.paths, room), room);
    std::vector<std::string> cells = {NameOf(cost, table.paths, std::min(room, kMostCellName))};
    for (const CostColumn* column : columns) {
      line += PadLeft(column->text(cost), kCostLinesBetween + column->width);
      cells.push_back(column->text(cost));
    }
    lines.push_back({Style::kPlain, CutRight(line, table.columns), std::move(cells), true});
  };
  for (const Cost& cost : costs.rows) {
    if (lines.size() > table.most) break;
    add_line(cost);
    const bool first = &cost == &costs.rows.front();
    if (!table.paths || !first || cost.alike < 2 || !cost.largest_pct) continue;
    const bool is_most = 2 * *cost.largest_pct > cost.share_pct;
    const std::string most = fmt::format("    {}, {} %: ", is_most ? "most of it" : "the largest",
                                         PercentText(*cost.largest_pct));
    lines.push_back(
        {Style::kQuiet, most + CutLeft(Shown(cost.largest), table.columns - Width(most))});
  }
  if (costs.collectives) add_line(*costs.collectives);
  return lines;
}

}  // namespace oplens::screen
