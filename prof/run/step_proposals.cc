#include "prof/run/step_proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

constexpr size_t kLeastRanges = 3;
constexpr size_t kMostFamilies = 4096;
constexpr double kLeastWork = 0.5;
constexpr double kWorkShades = 20;

/// A label around its one number.
struct NumberedLabel {
  std::string_view before;
  std::string_view after;
  int64_t number = 0;
};

std::optional<NumberedLabel> NumberedLabelOf(std::string_view text) {
  const auto is_digit = [](char c) { return IsDigit(c); };
  const auto begin = std::find_if(text.begin(), text.end(), is_digit);
  const auto end = std::find_if_not(begin, text.end(), is_digit);
  // A name without letters before its number says nothing.
  if (begin == text.begin() || begin == text.end() || std::any_of(end, text.end(), is_digit)) {
    return std::nullopt;
  }
  int64_t number = 0;
  if (!ParseNumber(std::string_view(begin, end), &number)) return std::nullopt;
  return NumberedLabel{std::string_view(text.begin(), begin), std::string_view(end, text.end()),
                       number};
}

struct FamilyRange {
  Interval time;
  int64_t number = 0;
};

/// The labels of one name on one thread.
using FamilyKey = std::tuple<ThreadIndex, std::string_view, std::string_view>;
using Families = std::map<FamilyKey, std::vector<FamilyRange>>;

Families FamiliesOf(const parse::Joined& joined) {
  const Trace& trace = joined.trace();
  std::vector<std::optional<NumberedLabel>> labels(trace.strings.size());
  std::vector<bool> asked(trace.strings.size());
  Families families;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (range.kind != RangeKind::kAnnotation || range.open() || joined.leaks().Has(i)) continue;
    if (!asked[range.text]) {
      asked[range.text] = true;
      labels[range.text] = NumberedLabelOf(trace.strings.View(range.text));
    }
    const auto& label = labels[range.text];
    if (!label) continue;
    const FamilyKey key(range.thread, label->before, label->after);
    if (families.size() >= kMostFamilies && !families.contains(key)) continue;
    families[key].push_back({{range.start_ns, range.end_ns}, label->number});
  }
  return families;
}

bool Ascends(const std::vector<FamilyRange>& ranges) {
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].number <= ranges[i - 1].number ||
        ranges[i].time.start_ns < ranges[i - 1].time.end_ns) {
      return false;
    }
  }
  return true;
}

/// Characters that mean something in a pattern are escaped.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::optional<StepProposal> ProposeSteps(const Run& run) {
  const StepSource source = run.steps().source();
  if (source == StepSource::kRanges || source == StepSource::kPattern) return std::nullopt;
  Families families = FamiliesOf(run.joined());
  for (auto& [key, ranges] : families) {
    std::stable_sort(ranges.begin(), ranges.end(), [](const FamilyRange& a, const FamilyRange& b) {
      return a.time.start_ns < b.time.start_ns;
    });
  }
  std::erase_if(families, [](const auto& entry) {
    return entry.second.size() < kLeastRanges || !Ascends(entry.second);
  });
  if (families.empty()) return std::nullopt;
  // The time of work, by when its launch began.
  std::vector<std::pair<int64_t, int64_t>> launched;
  int64_t all_ns = 0;
  for (const DeviceEvent& event : run.device_work().events()) {
    SaturatingAdd(&all_ns, event.duration_ns());
    const LaunchIndex launch = run.device_work().LaunchOf(event);
    if (launch == kNoLaunch) continue;
    launched.emplace_back(run.trace().launches[launch].start_ns, event.duration_ns());
  }
  std::sort(launched.begin(), launched.end());
  std::optional<StepProposal> best;
  double best_shade = 0;
  for (const auto& [key, ranges] : families) {
    int64_t work_ns = 0;
    auto next = launched.begin();
    for (const FamilyRange& range : ranges) {
      next = std::lower_bound(next, launched.end(), std::pair(range.time.start_ns, INT64_MIN));
      for (; next != launched.end() && next->first < range.time.end_ns; ++next) {
        SaturatingAdd(&work_ns, next->second);
      }
    }
    const double share =
        all_ns > 0 ? static_cast<double>(work_ns) / static_cast<double>(all_ns) : 0;
    const double shade = static_cast<double>(static_cast<int64_t>(share * kWorkShades));
    const auto count = static_cast<int64_t>(ranges.size());
    if (share < kLeastWork) continue;
    if (best && std::pair(shade, best->count) <= std::pair(best_shade, count)) continue;
    const auto& [thread, before, after] = key;
    best_shade = shade;
    best = {fmt::format("{}*{}", before, after),
            fmt::format("^{}(\\d+){}", Escaped(before), after.empty() ? "" : Escaped(after) + "$"),
            count, 100 * share};
  }
  return best;
}

std::string SentenceOf(const StepProposal& proposal) {
  return fmt::format(
      "ranges {} repeat {} times, with {:.0f} % of the GPU's work: --step '{}' takes "
      "them as steps",
      proposal.name, proposal.count, proposal.work_pct, proposal.pattern);
}

}  // namespace oplens::prof
