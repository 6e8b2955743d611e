#include "prof/compat/hta/activity.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/id_map.h"
#include "parse/model/cuda_kinds.h"
#include "prof/compat/hta/events.h"

namespace oplens::prof {
namespace {

using HtaActivityKind = TorchEvent::Kind;

/// The reference cuts names of copies after the direction.
std::string MemoryWord(std::string_view name) {
  if (HtaClassOf(name) != HtaClass::kMemory) return {};
  constexpr std::string_view kCopy = "Memcpy";
  constexpr size_t kDirectionEnd = 11;
  if (name.starts_with("Memset")) return "Memset";
  if (!name.starts_with(kCopy)) return "Memcpy Unknown";
  return std::string(name.substr(0, kDirectionEnd));
}

/// For traces of PyTorch's profiler, whose events are in file order.
void TakeTorchEvents(const Trace& trace, HtaActivity* all) {
  IdMap calls;
  for (const TorchEvent& event : trace.torch_events) {
    if (event.kind != HtaActivityKind::kApiCall && event.kind != HtaActivityKind::kDriverCall)
      continue;
    if (event.correlation_id == TorchEvent::kNone) continue;
    const int64_t start_us = HtaStartUs(event.start_us);
    const auto next = static_cast<uint32_t>(all->calls.size());
    calls.Erase(event.correlation_id);  // The last one counts.
    calls.FindOrInsert(event.correlation_id, next);
    all->calls.push_back({start_us, HtaEndUs(event.end_us) - start_us, event.name});
  }
  const auto add = [&](const TorchEvent& event) {
    if (event.thread_id == -1) return;
    HtaWork& work = all->work.emplace_back();
    work.start_us = HtaStartUs(event.start_us);
    work.end_us = HtaEndUs(event.end_us);
    work.stream = event.thread_id;
    work.call = calls.Find(event.correlation_id);
    work.numbered = event.correlation_id >= 0;
    work.gbps = event.gbps;
    if (event.kind != HtaActivityKind::kKernel)
      work.memory = MemoryWord(trace.strings.View(event.name));
  };
  for (const TorchEvent& event : trace.torch_events) {
    if (event.number == 1) all->first_event_us = HtaStartUs(event.start_us);
    if (event.kind >= HtaActivityKind::kKernel && event.kind <= HtaActivityKind::kFill) add(event);
  }
  for (const TorchEvent& event : trace.accelerator_events) add(event);
}

/// For all other traces.
class OtherTrace {
 public:
  OtherTrace(const Trace& trace, HtaActivity* all) : all_(*all) {
    for (const LaunchCall& call : trace.launches) {
      const int64_t start_us = HtaStartUs(HtaMicroseconds(call.start_ns));
      all_.calls.push_back({start_us, EndOf(call) - start_us, call.api});
    }
    for (const Kernel& kernel : trace.kernels) Add(kernel, 0, {});
    for (const MemoryCopy& copy : trace.copies) {
      Add(copy, copy.size_bytes, "Memcpy " + std::string(CopyKindWord(copy.copy_kind)));
    }
    for (const MemorySet& set : trace.sets) Add(set, set.size_bytes, "Memset");
    std::stable_sort(all_.work.begin(), all_.work.end(),
                     [](const HtaWork& a, const HtaWork& b) { return a.start_us < b.start_us; });
  }

 private:
  template <typename Item>
  static int64_t EndOf(const Item& item) {
    int64_t duration_ns = 0;
    if (__builtin_sub_overflow(item.end_ns, item.start_ns, &duration_ns)) duration_ns = 0;
    return HtaEndUs(HtaMicroseconds(item.start_ns) + HtaMicroseconds(duration_ns));
  }

  template <typename Item>
  void Add(const Item& item, int64_t size_bytes, std::string memory) {
    if (item.stream_id < 0) return;
    HtaWork& work = all_.work.emplace_back();
    work.start_us = HtaStartUs(HtaMicroseconds(item.start_ns));
    work.end_us = EndOf(item);
    work.stream = item.stream_id;
    work.call = item.launch == kNoLaunch ? HtaWork::kNoCall : item.launch;
    if (item.end_ns > item.start_ns) {
      const double length_ns =
          static_cast<double>(item.end_ns) - static_cast<double>(item.start_ns);
      work.gbps = static_cast<double>(size_bytes) / length_ns;
    }
    work.memory = std::move(memory);
  }

  HtaActivity& all_;
};

/// Partitions by the median of three keys; equal keys may end up on either side. Returns the
/// median's place.
size_t Partition(std::span<const int64_t> keys, std::span<uint32_t> order) {
  const size_t last = order.size() - 1;
  const size_t middle = last / 2;
  const auto before = [&](size_t a, size_t b) { return keys[order[a]] < keys[order[b]]; };
  if (before(middle, 0)) std::swap(order[middle], order[0]);
  if (before(last, middle)) std::swap(order[last], order[middle]);
  if (before(middle, 0)) std::swap(order[middle], order[0]);
  const int64_t pivot = keys[order[middle]];
  size_t up = 0;
  size_t down = last - 1;
  std::swap(order[middle], order[down]);
  while (true) {
    while (keys[order[++up]] < pivot) {
    }
    while (pivot < keys[order[--down]]) {
    }
    if (up >= down) break;
    std::swap(order[up], order[down]);
  }
  std::swap(order[up], order[last - 1]);
  return up;
}

void InsertionSort(std::span<const int64_t> keys, std::span<uint32_t> order) {
  for (size_t i = 1; i < order.size(); ++i) {
    const uint32_t own = order[i];
    size_t at = i;
    for (; at > 0 && keys[own] < keys[order[at - 1]]; --at) order[at] = order[at - 1];
    order[at] = own;
  }
}

/// Sifts the key at `at` down in the first `count` elements of a max-heap.
void HtaActivitySink(std::span<const int64_t> keys, std::span<uint32_t> heap, size_t at,
                     uint32_t own) {
  for (size_t child = 2 * at + 1; child < heap.size(); child = 2 * at + 1) {
    if (child + 1 < heap.size() && keys[heap[child]] < keys[heap[child + 1]]) ++child;
    if (keys[own] >= keys[heap[child]]) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = own;
}

void HeapSort(std::span<const int64_t> keys, std::span<uint32_t> order) {
  for (size_t i = order.size() / 2; i > 0; --i) HtaActivitySink(keys, order, i - 1, order[i - 1]);
  for (size_t last = order.size() - 1; last > 0; --last) {
    const uint32_t own = std::exchange(order[last], order[0]);
    HtaActivitySink(keys, order.first(last), 0, own);
  }
}

void SortPart(std::span<const int64_t> keys, std::span<uint32_t> order) {
  constexpr size_t kSmall = 16;
  if (order.empty()) return;
  struct Part {
    std::span<uint32_t> places;
    int left;  // Levels of partitioning left.
  };
  std::vector<Part> parts = {{order, 2 * (static_cast<int>(std::bit_width(order.size())) - 1)}};
  while (!parts.empty()) {
    auto [places, left] = parts.back();
    parts.pop_back();
    if (left < 0) {
      HeapSort(keys, places);
      continue;
    }
    // Push the larger part; the limit on levels is checked only when a part is popped.
    while (places.size() > kSmall) {
      const size_t pivot = Partition(keys, places);
      const std::span<uint32_t> low = places.first(pivot);
      const std::span<uint32_t> high = places.subspan(pivot + 1);
      --left;
      const bool low_is_less = low.size() < high.size();
      parts.push_back({low_is_less ? high : low, left});
      places = low_is_less ? low : high;
    }
    InsertionSort(keys, places);
  }
}

}  // namespace

HtaActivity::HtaActivity(const Trace& trace) {
  if (trace.torch_events.empty()) {
    OtherTrace(trace, this);
  } else {
    TakeTorchEvents(trace, this);
  }
  const std::optional<int64_t> last_step_us = HtaLastStepUs(trace);
  if (!last_step_us) return;
  std::erase_if(work, [&](const HtaWork& item) {
    return item.call == HtaWork::kNoCall || calls[item.call].start_us >= *last_step_us;
  });
}

std::vector<uint32_t> HtaOrder(std::span<const int64_t> keys) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  SortPart(keys, order);
  return order;
}

HtaDescription HtaDescribe(std::vector<double> values) {
  HtaDescription found;
  found.count = static_cast<double>(values.size());
  found.mean = std::accumulate(values.begin(), values.end(), 0.0) / found.count;
  if (values.size() > 1) {
    double squares = 0;
    for (const double value : values) squares += (value - found.mean) * (value - found.mean);
    found.deviation = std::sqrt(squares / (found.count - 1));
  }
  std::sort(values.begin(), values.end());
  found.least = values.front();
  found.p25 = HtaQuantile(values, 0.25);
  found.p50 = HtaQuantile(values, 0.5);
  found.p75 = HtaQuantile(values, 0.75);
  found.largest = values.back();
  return found;
}

}  // namespace oplens::prof
