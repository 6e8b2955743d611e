#include "prof/advice/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/ratio.h"

namespace oplens::prof::advice {

double ShareOf(int64_t part, int64_t whole) { return Ratio(part, whole).value_or(0); }

double ShareOfTime(const RankFacts& rank, int64_t kernels_ns) {
  return ShareOf(kernels_ns, rank.capacity_ns());
}

std::string Percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string TimeText(double ns) {
  struct Unit {
    double ns;
    std::string_view word;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const Unit& unit : kUnits) {
    if (ns >= unit.ns) return fmt::format("{:.4g} {}", ns / unit.ns, unit.word);
  }
  return fmt::format("{:.0f} ns", ns);
}

std::string BytesText(int64_t bytes) {
  constexpr double kGiB = 1 << 30;
  constexpr double kMiB = 1 << 20;
  const auto size = static_cast<double>(bytes);
  if (size >= kGiB) return fmt::format("{:.2f} GiB", size / kGiB);
  return fmt::format("{:.1f} MiB", size / kMiB);
}

std::vector<std::string> EvidenceOf(const TopicFacts& topic) {
  std::vector<std::pair<std::string_view, const Sums*>> order;
  for (const auto& [place, sums] : topic.places) order.emplace_back(place, &sums);
  const auto before = [](const auto& a, const auto& b) {
    return std::tuple(-a.second->gain_ns, -a.second->time_ns, -a.second->count, a.first) <
           std::tuple(-b.second->gain_ns, -b.second->time_ns, -b.second->count, b.first);
  };
  const size_t shown = std::min(order.size(), kMostEvidence);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    before);
  const auto text_of = [](std::string_view place, const Sums& sums) {
    std::string text =
        fmt::format("{}: {} x, {}", place, sums.count, TimeText(static_cast<double>(sums.time_ns)));
    if (sums.gain_ns > 0 && sums.gain_ns != sums.time_ns) {
      text += fmt::format(", at most {} to gain", TimeText(static_cast<double>(sums.gain_ns)));
    }
    return text;
  };
  std::vector<std::string> evidence;
  for (size_t i = 0; i < shown; ++i) evidence.push_back(text_of(order[i].first, *order[i].second));
  if (order.size() == shown) return evidence;
  Sums others;
  for (size_t i = shown; i < order.size(); ++i) others.Add(*order[i].second);
  evidence.push_back(text_of(fmt::format("({} more)", order.size() - shown), others));
  return evidence;
}

}  // namespace oplens::prof::advice
