#include "prof/compat/tb/ranks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "base/saturating.h"
#include "prof/compat/tb/steps.h"
#include "prof/run/class_times.h"
#include "prof/run/run.h"
#include "prof/views/step_times.h"

namespace oplens::prof {
namespace {

int64_t TbCollectivesNsOf(double us) {
  // Apart: times since 1970 have no room for both.
  constexpr double kMost = 9e15;
  if (std::isnan(us)) return 0;
  const double whole = std::floor(std::clamp(us, -kMost, kMost));
  return static_cast<int64_t>(whole) * 1000 + std::llround(std::clamp(us - whole, 0.0, 1.0) * 1000);
}

Interval IntervalOf(const TorchEvent& event) {
  return {TbCollectivesNsOf(event.start_us), TbCollectivesNsOf(event.end_us)};
}

bool TbCollectivesBefore(const Interval& a, const Interval& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

int64_t ElementSize(std::string_view type) {
  if (type == "'long int'") return 8;
  if (type == "'float'" || type == "'int'") return 4;
  if (type == "'c10::Half'" || type == "'c10::BFloat16'") return 2;
  return type == "'unsigned char'" ? 1 : 0;
}

/// The items of a list as Python prints it.
std::vector<std::string_view> TbCollectivesItemsOf(std::string_view text) {
  std::vector<std::string_view> items;
  if (text.size() < 2 || text.front() != '[') return items;
  text = text.substr(1, text.size() - 2);
  int64_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size();
    if (end || (text[i] == ',' && depth == 0)) {
      const std::string_view item = text.substr(begin, i - begin);
      const size_t first = item.find_first_not_of(' ');
      if (first != std::string_view::npos) items.push_back(item.substr(first));
      begin = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']') {
      --depth;
    }
  }
  return items;
}

/// Sum over the inputs of extents multiplied, times the size of an element.
int64_t SizeOf(std::string_view dims, std::string_view types) {
  const std::vector<std::string_view> shapes = TbCollectivesItemsOf(dims);
  const std::vector<std::string_view> names = TbCollectivesItemsOf(types);
  Checked sum = 0;
  for (size_t i = 0; i < std::min(shapes.size(), names.size()); ++i) {
    Checked product = ElementSize(names[i]);
    for (const std::string_view item : TbCollectivesItemsOf(shapes[i])) {
      int64_t extent = 0;
      std::from_chars(item.data(), item.data() + item.size(), extent);
      product = product * extent;
    }
    sum = sum + product;
  }
  return sum.Value().value_or(INT64_MAX);
}

/// Finds the step that holds each, as the plugin goes through both lists: one that lies in no step
/// but before the end of the last is in none, and once one is behind all steps the rest are in
/// none.
void FindSteps(const std::vector<Step>& steps, std::vector<TbCollective>* all) {
  size_t index = 0;
  for (TbCollective& one : *all) {
    while (index < steps.size()) {
      const Interval& span = steps[index].span;
      if (one.range.start_ns >= span.start_ns && one.range.end_ns <= span.end_ns) {
        one.step = index;
        break;
      }
      if (one.range.start_ns < span.end_ns) break;
      ++index;
    }
    if (index >= steps.size()) break;
  }
}

/// All of a run, by start, longer ones first; of several with one external id the last. Empty where
/// both NCCL and Gloo are in it. `steps`: TensorBoardSteps. Needs TracePart::kTorchEvents.
std::vector<TbCollective> FindTbCollectives(const Run& run, const std::vector<Step>& steps) {
  const Trace& trace = run.trace();
  std::vector<uint32_t> order(trace.torch_events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return trace.torch_events[a].start_us < trace.torch_events[b].start_us;
  });
  std::vector<TbCollective> found;
  std::unordered_map<int64_t, size_t> place_of;  // By external id.
  bool nccl = false;
  bool gloo = false;
  for (const uint32_t index : order) {
    const TorchEvent& event = trace.torch_events[index];
    const std::string_view name = trace.strings.View(event.name);
    if (event.kind > TorchEvent::Kind::kDeviceAnnotation || !IsTensorBoardCollective(name)) {
      continue;
    }
    (name.starts_with("nccl:") ? nccl : gloo) = true;
    const auto [at, fresh] = place_of.try_emplace(event.external_id, found.size());
    if (fresh) found.emplace_back();
    TbCollective& one = found[at->second];
    one = {std::string(name), IntervalOf(event), {IntervalOf(event)}, 0, {}};
    one.size_bytes = SizeOf(trace.strings.View(event.dims), trace.strings.View(event.types));
  }
  if (nccl && gloo) return {};
  for (const TorchEvent& event : trace.torch_events) {
    if (!nccl || event.kind != TorchEvent::Kind::kKernel) continue;
    const auto at = place_of.find(event.external_id);
    if (at != place_of.end()) found[at->second].ranges.push_back(IntervalOf(event));
  }
  for (TbCollective& one : found)
    std::stable_sort(one.ranges.begin(), one.ranges.end(), TbCollectivesBefore);
  std::stable_sort(found.begin(), found.end(), [](const TbCollective& a, const TbCollective& b) {
    return TbCollectivesBefore(a.range, b.range);
  });
  FindSteps(steps, &found);
  return found;
}

std::vector<StepParts> TbRanksPartsOf(const std::vector<Step>& steps,
                                      const ClassIntervals& classes) {
  const std::vector<StepTimes> times = TbTimesOf(steps, classes);
  constexpr auto kComm = static_cast<size_t>(TimeClass::kComm);
  std::vector<StepParts> parts;
  for (size_t i = 0; i < steps.size(); ++i) {
    StepParts& own = parts.emplace_back();
    own.number = steps[i].number;
    own.total_ns = LengthOf(steps[i].span);
    own.overlap_ns = times[i].hidden[kComm].value_or(0);
    own.communication_ns = times[i].exposed[kComm].value_or(0);
    for (const TimeClass compute : {TimeClass::kKernel, TimeClass::kCpu}) {
      const auto& exposed = times[i].exposed[static_cast<size_t>(compute)];
      if (exposed) own.computation_ns = *exposed;
    }
  }
  return parts;
}

}  // namespace

void TbRanks::Add(const Run& run) {
  TbRecording& recording = ranks_[std::string(run.rank())].emplace_back();
  const std::vector<Step> steps = TensorBoardSteps(run.trace(), run.work());
  if (steps.empty()) return;
  const ClassIntervals classes = TbClassesOf(run);
  recording.steps = TbRanksPartsOf(steps, classes);
  recording.communicates = !classes.Of(static_cast<size_t>(TimeClass::kComm)).empty();
  recording.calls = FindTbCollectives(run, steps);
}

void TbRanks::Merge(const TbRanks& other) {
  for (const auto& [name, recordings] : other.ranks_) {
    auto& own = ranks_[name];
    own.insert(own.end(), recordings.begin(), recordings.end());
  }
}

std::string TbRanks::Refusal() const {
  const TbRecording* first = nullptr;
  for (const auto& [name, recordings] : ranks_) {
    if (recordings.size() > 1) return "several profiles have one rank";
    const TbRecording& own = recordings.front();
    if (!own.communicates || own.calls.empty()) {
      return "the plugin knows no collective in the profile of a rank";
    }
    if (first == nullptr) first = &own;
    if (own.calls.size() != first->calls.size()) return "ranks have different counts of calls";
    for (size_t i = 0; i < own.calls.size(); ++i) {
      if (own.calls[i].ranges.size() != first->calls[i].ranges.size()) {
        return "ranks have different counts of kernels of a call";
      }
    }
  }
  return first == nullptr ? "there is no profile" : "";
}

TbRanks::Transfers TbRanks::ShortestOf() const {
  Transfers shortest;
  for (const auto& [name, recordings] : ranks_) {
    const std::vector<TbCollective>& calls = recordings.front().calls;
    shortest.resize(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      shortest[i].resize(calls[i].ranges.size(), INT64_MAX);
      for (size_t j = 0; j < calls[i].ranges.size(); ++j) {
        shortest[i][j] = std::min(shortest[i][j], LengthOf(calls[i].ranges[j]));
      }
    }
  }
  return shortest;
}

void TbLengths::Add(const TbCollective& call, const std::vector<int64_t>& shortest) {
  ++calls;
  size_bytes = SaturatingSum(size_bytes, call.size_bytes);
  for (size_t j = 0; j < call.ranges.size(); ++j) {
    const Interval& range = call.ranges[j];
    ranges.push_back(range);
    // A range of more than can be said is transfer as a whole.
    int64_t start_ns = 0;
    if (__builtin_sub_overflow(range.end_ns, shortest[j], &start_ns)) start_ns = range.start_ns;
    transfers.push_back({std::max(range.start_ns, start_ns), range.end_ns});
  }
}

}  // namespace oplens::prof
