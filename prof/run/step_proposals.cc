#include "prof/run/step_proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/class_times.h"
#include "prof/run/collective_kind.h"
#include "prof/run/device_work.h"
#include "prof/run/host_steps.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/verdicts/served_step.h"

namespace oplens::prof {
namespace {

constexpr size_t kLeastRanges = 3;
constexpr size_t kMostFamilies = 4096;
constexpr size_t kLongText = 32;
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

/// Characters that mean something in a pattern are escaped; a quote would end the shell's.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c == '\'' ? '.' : c;
  }
  return escaped;
}

/// Of a text too long for a sentence, what is shown: whole characters.
std::string_view StartOf(std::string_view text) {
  size_t size = std::min(text.size(), kLongText);
  const auto continues = [&](size_t at) { return (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80; };
  while (size > 0 && size < text.size() && continues(size)) --size;
  return text.substr(0, size);
}

/// Labels that could be the steps of one loop.
struct LabelFamily {
  enum class Kind : uint8_t { kServed, kNumbered, kSameText };
  Kind kind = Kind::kSameText;
  std::string_view before;  // kServed: the name,
  std::string_view after;   // and the pattern.

  friend bool operator<(const LabelFamily& a, const LabelFamily& b) {
    return std::tie(a.kind, a.before, a.after) < std::tie(b.kind, b.before, b.after);
  }

  std::string Name() const {
    if (kind == Kind::kNumbered) return fmt::format("{}*{}", before, after);
    if (kind == Kind::kServed) return std::string(before);
    return before.size() > kLongText ? fmt::format("{}...", StartOf(before)) : std::string(before);
  }
  std::string Pattern() const {
    if (kind == Kind::kServed) return std::string(after);
    return kind == Kind::kNumbered ? fmt::format("^{}(\\d+){}", Escaped(before),
                                                 after.empty() ? "" : Escaped(after) + "$")
                                   : fmt::format("^{}$", Escaped(before));
  }
};

using Families = std::map<LabelFamily, std::vector<StepMatch>>;

/// Labels of the program: what a library calls its ops and collectives are no steps.
bool IsLabel(const parse::Joined& joined, const Range& range) {
  if (range.kind == RangeKind::kMarker) {
    if (joined.texts().Of(range.text).kind != MarkerKind::kFree) return false;
  } else if (range.kind != RangeKind::kAnnotation) {
    return false;
  }
  const std::string_view text = joined.trace().strings.View(range.text);
  return !text.starts_with('{') && KindOfCollective(text) == CollectiveKind::kUnknown;
}

class FamilyFinder {
 public:
  explicit FamilyFinder(const parse::Joined& joined)
      : joined_(joined), counts_(joined.trace().strings.size()), known_(counts_.size()) {
    const Trace& trace = joined.trace();
    for (const Range& range : trace.ranges) ++counts_[range.text];
    for (size_t i = 0; i < trace.ranges.size(); ++i) {
      const Range& range = trace.ranges[i];
      if (!range.open() && IsStepLike(range) && !joined.leaks().Has(i)) Add(range);
    }
  }

  Families Take() { return std::move(families_); }

 private:
  enum class Known : uint8_t { kNot, kNoLabel, kLabel };
  struct Label {
    std::optional<NumberedLabel> numbered;
    std::optional<ServedLabels> served;
  };

  bool IsStepLike(const Range& range) {
    Known& known = known_[range.text];
    if (known == Known::kNot) {
      known = IsLabel(joined_, range) ? Known::kLabel : Known::kNoLabel;
      if (known == Known::kLabel) {
        labels_[range.text] = {NumberedLabelOf(View(range)), ServedLabelsOf(View(range))};
      }
    }
    return known == Known::kLabel;
  }

  std::string_view View(const Range& range) const {
    return joined_.trace().strings.View(range.text);
  }

  void Add(const Range& range) {
    const Label& label = labels_[range.text];
    StepMatch match = {joined_.trace().ThreadOf(range), range.start_ns, range.end_ns};
    if (label.served) {
      return AddTo({LabelFamily::Kind::kServed, label.served->name, label.served->pattern}, match);
    }
    if (counts_[range.text] >= kLeastRanges) {
      AddTo({LabelFamily::Kind::kSameText, View(range), {}}, match);
    }
    if (!label.numbered) return;
    match.number = label.numbered->number;
    AddTo({LabelFamily::Kind::kNumbered, label.numbered->before, label.numbered->after}, match);
  }

  void AddTo(const LabelFamily& family, const StepMatch& match) {
    if (families_.size() >= kMostFamilies && !families_.contains(family)) return;
    families_[family].push_back(match);
  }

  const parse::Joined& joined_;
  std::vector<uint32_t> counts_;  // By StringId: ranges, of any kind.
  std::vector<Known> known_;      // By StringId.
  std::unordered_map<StringId, Label> labels_;
  Families families_;
};

/// Whether the start of a text is that of other ranges too, which --step would take.
bool OthersStartSo(const Trace& trace, std::string_view text) {
  const std::string_view start = StartOf(text);
  return std::ranges::any_of(trace.ranges, [&](const Range& range) {
    if (range.kind == RangeKind::kOperator || range.kind == RangeKind::kFrame) return false;
    const std::string_view other = trace.strings.View(range.text);
    return other != text && other.starts_with(start);
  });
}

std::string PatternOf(const Trace& trace, const LabelFamily& family) {
  const bool shorten = family.kind == LabelFamily::Kind::kSameText &&
                       family.before.size() > kLongText && !OthersStartSo(trace, family.before);
  return shorten ? "^" + Escaped(StartOf(family.before)) : family.Pattern();
}

/// The steps that --step makes of a family, by start; none if it is no loop's.
std::vector<HostStep> StepsOfFamily(LabelFamily::Kind kind, std::vector<StepMatch> matches) {
  if (matches.size() < kLeastRanges) return {};
  if (kind == LabelFamily::Kind::kNumbered) {
    KeepOutermost(&matches);
    if (!CountUp(matches)) return {};
  }
  std::vector<HostStep> steps = StepsOfMatches(std::move(matches));
  std::stable_sort(steps.begin(), steps.end(),
                   [](const HostStep& a, const HostStep& b) { return a.start_ns < b.start_ns; });
  const auto overlap = [](const HostStep& a, const HostStep& b) { return b.start_ns < a.end_ns; };
  if (std::adjacent_find(steps.begin(), steps.end(), overlap) != steps.end()) return {};
  return steps.size() < kLeastRanges ? std::vector<HostStep>() : steps;
}

/// The time of the GPU's work, by when its launch began.
class LaunchedWork {
 public:
  explicit LaunchedWork(const Run& run) {
    for (const DeviceEvent& event : run.device_work().events()) {
      SaturatingAdd(&all_ns_, event.duration_ns());
      const LaunchIndex launch = run.device_work().LaunchOf(event);
      if (launch == kNoLaunch) continue;
      launched_.emplace_back(run.trace().launches[launch].start_ns, event.duration_ns());
    }
    std::sort(launched_.begin(), launched_.end());
  }

  /// The share that was launched in steps, which are disjoint and by start.
  double ShareOf(std::span<const HostStep> steps) const {
    if (all_ns_ <= 0) return 0;
    int64_t work_ns = 0;
    auto next = launched_.begin();
    for (const HostStep& step : steps) {
      next = std::lower_bound(next, launched_.end(), std::pair(step.start_ns, INT64_MIN));
      for (; next != launched_.end() && next->first < step.end_ns; ++next) {
        SaturatingAdd(&work_ns, next->second);
      }
    }
    return static_cast<double>(work_ns) / static_cast<double>(all_ns_);
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> launched_;
  int64_t all_ns_ = 0;
};

struct Candidate {
  LabelFamily family;
  RepeatedRanges ranges;
  int64_t shade = 0;
  int64_t time_ns = 0;

  /// The better one is first.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(b.shade, a.ranges.count, b.time_ns, a.ranges.name) <
           std::tie(a.shade, b.ranges.count, a.time_ns, b.ranges.name);
  }
};

}  // namespace

std::optional<StepProposal> ProposeSteps(const Run& run) {
  const StepSource source = run.steps().source();
  if (source == StepSource::kRanges || source == StepSource::kPattern) return std::nullopt;
  std::vector<Candidate> candidates;
  std::optional<LaunchedWork> work;
  Families families = FamilyFinder(run.joined()).Take();
  for (auto& [family, matches] : families) {
    const std::vector<HostStep> steps = StepsOfFamily(family.kind, std::move(matches));
    if (steps.empty()) continue;
    if (!work) work.emplace(run);
    const double share = work->ShareOf(steps);
    if (share < kLeastWork) continue;
    Candidate candidate = {family,
                           {family.Name(), "", static_cast<int64_t>(steps.size()), 100 * share},
                           static_cast<int64_t>(share * kWorkShades)};
    for (const HostStep& step : steps) {
      SaturatingAdd(&candidate.time_ns, LengthOf({step.start_ns, step.end_ns}));
    }
    candidates.push_back(std::move(candidate));
  }
  if (candidates.empty()) return std::nullopt;
  std::sort(candidates.begin(), candidates.end());
  candidates.front().ranges.pattern = PatternOf(run.trace(), candidates.front().family);
  StepProposal proposal = {candidates.front().ranges, std::nullopt};
  const auto other = std::ranges::find_if(candidates, [&](const Candidate& candidate) {
    return candidate.ranges.count != proposal.best.count;
  });
  if (other != candidates.end()) {
    proposal.other = other->ranges;
    proposal.other->pattern = PatternOf(run.trace(), other->family);
  }
  return proposal;
}

std::string SentenceOf(const StepProposal& proposal) {
  std::string text = fmt::format(
      "ranges {} repeat {} times, with {:.0f} % of the GPU's work: --step '{}' takes "
      "them as steps",
      proposal.best.name, proposal.best.count, proposal.best.work_pct, proposal.best.pattern);
  if (proposal.other) {
    text += fmt::format("; or {} ({} times, {:.0f} %): --step '{}'", proposal.other->name,
                        proposal.other->count, proposal.other->work_pct, proposal.other->pattern);
  }
  return text;
}

}  // namespace oplens::prof
