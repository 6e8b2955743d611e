#include "prof/run/tb_collectives.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "base/saturating.h"
#include "prof/run/run.h"
#include "prof/run/tb_steps.h"

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

}  // namespace

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

}  // namespace oplens::prof
