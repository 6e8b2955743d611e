#include "prof/diff/main_figure.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace oplens::prof {
namespace {

constexpr std::string_view kDeviceParts[] = {"device_self_ns", "bwd_device_self_ns"};

constexpr SummedFigure kSummedFigures[] = {{"modules",
                                            {"device_ns", "Device(ns)", "ns", FieldType::kDecimal,
                                             13, "device_self_ns + bwd_device_self_ns", Fold::kSum},
                                            kDeviceParts}};

/// Where the first time of a view is not the one that matters.
constexpr std::pair<std::string_view, std::string_view> kMainFigures[] = {{"gpu", "busy_ns"}};

bool HasValue(const DiffTable& table, size_t figure) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const DiffRow& row) {
    const Figure& one = row.figures[figure];
    return one.base.value_or(0) != 0 || one.now.value_or(0) != 0;
  });
}

using GroupKeys = std::vector<std::string>;

GroupKeys Chosen(const std::vector<std::string>& keys, const std::vector<size_t>& places) {
  GroupKeys chosen;
  for (const size_t place : places) chosen.push_back(keys[place]);
  return chosen;
}

bool IsRemoved(const DiffRow& row) {
  const auto has = [&](auto side) {
    return std::any_of(row.figures.begin(), row.figures.end(),
                       [&](const Figure& figure) { return (figure.*side).has_value(); });
  };
  return !has(&Figure::now) && has(&Figure::base);
}

/// For the keys of the base, those of the new run that most of their time is paired with.
std::map<GroupKeys, GroupKeys> NewKeys(const DiffTable& table, const std::vector<size_t>& places,
                                       size_t main) {
  std::map<GroupKeys, std::map<GroupKeys, double>> times;
  for (const DiffRow& row : table.rows) {
    if (IsRemoved(row) || !row.figures[main].base) continue;
    const std::vector<std::string>& base = row.base_keys.empty() ? row.keys : row.base_keys;
    times[Chosen(base, places)][Chosen(row.keys, places)] += *row.figures[main].base;
  }
  std::map<GroupKeys, GroupKeys> most;
  for (const auto& [base, of_new] : times) {
    most[base] = std::max_element(of_new.begin(), of_new.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
  }
  return most;
}

struct RowsOfKeys {
  std::vector<const DiffRow*> rows;
  std::map<GroupKeys, double> base;  ///< Time by keys in the base.
};

}  // namespace

const SummedFigure* SummedFigureOf(std::string_view view) {
  const auto* const at =
      std::find_if(std::begin(kSummedFigures), std::end(kSummedFigures),
                   [&](const SummedFigure& figure) { return figure.view == view; });
  return at == std::end(kSummedFigures) ? nullptr : at;
}

std::optional<size_t> MainFigureOf(const DiffTable& table) {
  std::vector<size_t> candidates;
  const auto add = [&](std::string_view key) {
    if (const auto place = table.FigureOf(key)) candidates.push_back(*place);
  };
  if (const SummedFigure* summed = SummedFigureOf(table.view)) add(summed->field.key);
  for (const auto& [view, key] : kMainFigures) {
    if (table.view == view) add(key);
  }
  const size_t shown = std::min(table.shown_figures, table.figures.size());
  for (size_t i = 0; i < shown; ++i) {
    if (table.figures[i].unit == "ns" && table.figures[i].fold == Fold::kSum) {
      candidates.push_back(i);
    }
  }
  for (size_t i = 0; i < shown; ++i) candidates.push_back(i);
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](size_t figure) { return HasValue(table, figure); });
  return found == candidates.end() ? std::nullopt : std::optional(*found);
}

DiffTable GroupedBy(const DiffTable& table, std::span<const std::string> keys) {
  DiffTable grouped = table;
  grouped.rows.clear();
  grouped.keys.clear();
  std::vector<size_t> places;
  for (const std::string& key : keys) {
    for (size_t i = 0; i < table.keys.size(); ++i) {
      if (table.keys[i].key != key) continue;
      places.push_back(i);
      grouped.keys.push_back(table.keys[i]);
    }
  }
  const size_t main = table.main.value_or(0);
  const std::map<GroupKeys, GroupKeys> renamed = NewKeys(table, places, main);
  std::map<GroupKeys, RowsOfKeys> groups;
  for (const DiffRow& row : table.rows) {
    GroupKeys own = Chosen(row.keys, places);
    const auto now = IsRemoved(row) ? renamed.find(own) : renamed.end();
    const GroupKeys base = row.base_keys.empty() ? own : Chosen(row.base_keys, places);
    RowsOfKeys& group = groups[now == renamed.end() ? own : now->second];
    group.rows.push_back(&row);
    if (row.figures[main].base) group.base[base] += *row.figures[main].base;
  }
  for (const auto& [own, group] : groups) {
    DiffRow& row = grouped.rows.emplace_back();
    row.keys = own;
    if (group.base.size() == 1 && group.base.begin()->first != own) {
      row.base_keys = group.base.begin()->first;
    }
    for (size_t i = 0; i < table.figures.size(); ++i) {
      Figure figure = SumOf(table, i, group.rows).figure;
      if (figure.change != Change::kSame && (!figure.base || !figure.now)) {
        figure.change = figure.now ? Change::kAdded : Change::kRemoved;
      }
      row.figures.push_back(figure);
    }
  }
  std::stable_sort(grouped.rows.begin(), grouped.rows.end(),
                   [&](const DiffRow& a, const DiffRow& b) {
                     const auto size = [&](const DiffRow& row) {
                       return std::abs(row.figures[main].delta().value_or(0));
                     };
                     return size(a) > size(b);
                   });
  return grouped;
}

}  // namespace oplens::prof
