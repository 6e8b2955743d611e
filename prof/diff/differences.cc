#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/median.h"
#include "prof/diff/explain.h"
#include "prof/diff/noise.h"

namespace oplens::prof {
namespace {

/// A fact of the view setup that says whether times can be compared.
constexpr std::string_view kDeciding[] = {"gpu",       "gpus",       "sms",
                                          "clock_mhz", "world_size", "step_source"};
/// What is said apart, or of every recording anew.
constexpr std::string_view kPassedOver[] = {"steps", "clock_step_ns"};

bool IsAmong(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "step 0 takes 3.1 times the median": of the first step, where it is that much longer.
std::string WarmUp(const Side& side) {
  constexpr double kMuch = 1.5;
  constexpr size_t kLeast = 3;
  if (!side.has_steps() || side.samples().size() < kLeast) return {};
  std::vector<double> others;
  for (size_t i = 1; i < side.samples().size(); ++i) others.push_back(side.samples()[i].total_ns);
  const double median = MedianOf(others);
  const Side::Sample& first = side.samples().front();
  if (median <= 0 || first.total_ns < kMuch * median) return {};
  return fmt::format("step {} takes {:.1f} times the median", first.step, first.total_ns / median);
}

/// The extents that shapes differ by, such as "32 -> 64", with how many rows have each.
std::string ExtentsOf(const PlaceDiff& places) {
  const auto numbers = [](std::string_view text) {
    std::vector<std::string> found;
    std::string number;
    for (const char c : text) {
      if (IsDigit(c)) {
        number += c;
      } else if (!number.empty()) {
        found.push_back(std::exchange(number, {}));
      }
    }
    if (!number.empty()) found.push_back(number);
    return found;
  };
  std::map<std::string, size_t> rows;
  for (const DiffRow& row : places.table.rows) {
    if (row.figures[0].change != Change::kShape || row.base_keys.empty()) continue;
    const std::vector<std::string> base = numbers(row.base_keys[SidePlace::kShape]);
    const std::vector<std::string> now = numbers(row.keys[SidePlace::kShape]);
    if (base.size() != now.size()) continue;
    std::set<std::string> changes;
    for (size_t i = 0; i < base.size(); ++i) {
      if (base[i] != now[i]) changes.insert(fmt::format("{} -> {}", base[i], now[i]));
    }
    for (const std::string& change : changes) ++rows[change];
  }
  const auto most = std::max_element(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == rows.end() ? std::string()
                            : fmt::format("; {} in {} of them", most->first, most->second);
}

}  // namespace

std::vector<Difference> DifferencesOf(const Side& base, const Side& now, const PlaceDiff& places) {
  std::vector<Difference> differences;
  std::set<std::string> facts;
  for (const auto& [fact, value] : base.facts()) facts.insert(fact);
  for (const auto& [fact, value] : now.facts()) facts.insert(fact);
  const auto value_of = [](const Side& side, const std::string& fact) {
    const auto at = side.facts().find(fact);
    return at == side.facts().end() ? std::string() : at->second;
  };
  for (const std::string& fact : facts) {
    const std::string base_value = value_of(base, fact);
    const std::string now_value = value_of(now, fact);
    if (base_value == now_value || IsAmong(fact, kPassedOver)) continue;
    // What one file does not tell, it may still have had.
    const bool both = !base_value.empty() && !now_value.empty();
    differences.push_back({fact, base_value, now_value, both && IsAmong(fact, kDeciding)});
  }
  const auto count = [&](std::string fact, size_t base_count, size_t now_count, bool decides) {
    if (base_count == now_count) return;
    differences.push_back(
        {std::move(fact), std::to_string(base_count), std::to_string(now_count), decides});
  };
  count("ranks", base.ranks(), now.ranks(), true);
  count("steps", base.samples().size(), now.samples().size(), false);
  if (places.other_shapes > 0) {
    differences.push_back(
        {"shapes", fmt::format("{} calls", places.table.rows.size()),
         fmt::format("{} of them on other shapes{}", places.other_shapes, ExtentsOf(places)),
         true});
  }
  const std::string base_warm_up = WarmUp(base);
  const std::string now_warm_up = WarmUp(now);
  if (base_warm_up != now_warm_up) {
    const auto said = [](const std::string& text) { return text.empty() ? "none" : text; };
    differences.push_back({"warm_up", said(base_warm_up), said(now_warm_up), false});
  }
  // What decides comes first.
  std::stable_partition(differences.begin(), differences.end(),
                        [](const Difference& one) { return one.decides; });
  return differences;
}

}  // namespace oplens::prof
