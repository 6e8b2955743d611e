#include "parse/readers/kineto/kineto_order.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <tuple>
#include <utility>

#include "parse/readers/common/equal_ranges.h"

namespace oplens::parse {
namespace {

/// Nesting by RangeKind (smaller is outside), if nothing else decides.
constexpr uint8_t kNesting[] = {
    2,  // kMarker
    5,  // kOperator
    4,  // kFrame
    3,  // kModule
    1,  // kAnnotation
    0,  // kStep
};

std::strong_ordering CompareTexts(StringId a, StringId b, const StringPool& strings) {
  return a == b ? std::strong_ordering::equal : strings.View(a) <=> strings.View(b);
}

std::strong_ordering CompareOperators(const Operator& a, const Operator& b,
                                      const StringPool& strings) {
  const auto numbers = [](const Operator& op) {
    return std::tuple(!op.backward, op.sequence, op.forward_thread, op.direction, op.stream,
                      op.thread, op.handle, op.forward_handle);
  };
  if (const auto order = numbers(a) <=> numbers(b); order != 0) return order;
  if (const auto order = CompareTexts(a.call, b.call, strings); order != 0) return order;
  return CompareTexts(a.stack, b.stack, strings);
}

/// For ranges of one thread with equal times.
bool IsRangeOutside(const Range& a, const Range& b, const Trace& trace) {
  const auto nesting = [](const Range& range) { return kNesting[static_cast<size_t>(range.kind)]; };
  if (a.kind != b.kind) return nesting(a) < nesting(b);
  if (const auto order = CompareTexts(a.text, b.text, trace.strings); order != 0) return order < 0;
  const Operator* const x = trace.OperatorOf(a);
  const Operator* const y = trace.OperatorOf(b);
  return x != nullptr && y != nullptr && CompareOperators(*x, *y, trace.strings) < 0;
}

}  // namespace

void TakeKinetoId(std::string_view key, simdjson::dom::element value, KinetoEventIds* ids) {
  const bool index = key == "Ev Idx";
  if (!index && key != "External id") return;
  int64_t id = -1;
  if (!TakeInt(value, &id) || id < 0 || id >= int64_t{UINT32_MAX}) return;
  (index ? ids->index : ids->external) = static_cast<uint32_t>(id) + 1;
}

KinetoEventIds ReadKinetoIds(const KinetoEvent& event) {
  KinetoEventIds ids;
  if (!event.has_args) return ids;
  for (const simdjson::dom::key_value_pair arg : event.args) TakeKinetoId(arg.key, arg.value, &ids);
  return ids;
}

void SettleRanges(const std::vector<KinetoEventIds>& ids, Trace* trace) {
  OrderEqualRanges(
      [&](uint32_t a, uint32_t b) {
        if (ids[a] != ids[b]) return ids[a] < ids[b];
        return IsRangeOutside(trace->ranges[a], trace->ranges[b], *trace);
      },
      trace);
}

void SettleMemoryEvents(const std::vector<KinetoEventIds>& ids, Trace* trace) {
  std::vector<MemoryEvent>& events = trace->memory_events;
  const auto before = [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t i) {
      const MemoryEvent& event = events[i];
      const Thread& thread = trace->threads[event.thread];
      return std::tuple(event.time_ns, ids[i], thread.process_id, thread.thread_id, event.device_id,
                        event.address, event.size_bytes, event.total_allocated_bytes,
                        event.total_reserved_bytes);
    };
    if (events[a].time_ns != events[b].time_ns) return events[a].time_ns < events[b].time_ns;
    return key(a) < key(b);
  };
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0U);
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  std::sort(order.begin(), order.end(), before);
  std::vector<MemoryEvent> sorted;
  sorted.reserve(events.size());
  for (const uint32_t i : order) sorted.push_back(events[i]);
  events = std::move(sorted);
}

void SettleCommunications(Trace* trace) {
  std::vector<Communication>& all = trace->communications;
  const auto before = [&](uint32_t a, uint32_t b) {
    const Communication& x = all[a];
    const Communication& y = all[b];
    // Those of kernels come last, in their order.
    const auto place = [](const Communication& c, uint32_t i) {
      const bool of_kernel = c.thread == kNoThread;
      return std::tuple(of_kernel, of_kernel ? i : c.thread, of_kernel ? 0 : c.start_ns);
    };
    if (place(x, a) != place(y, b)) return place(x, a) < place(y, b);
    const auto numbers = [](const Communication& c) {
      return std::tuple(c.sequence, c.peer, c.input_elements, c.output_elements, c.group_size);
    };
    if (x.end_ns != y.end_ns) return x.end_ns > y.end_ns;
    if (numbers(x) != numbers(y)) return numbers(x) < numbers(y);
    for (const auto text : {&Communication::name, &Communication::dtype, &Communication::group,
                            &Communication::ranks}) {
      const auto order = CompareTexts(x.*text, y.*text, trace->strings);
      if (order != 0) return order < 0;
    }
    return false;
  };
  std::vector<uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0U);
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  std::sort(order.begin(), order.end(), before);
  std::vector<Communication> sorted;
  std::vector<ItemIndex> place_of(all.size());
  for (const uint32_t i : order) {
    place_of[i] = static_cast<ItemIndex>(sorted.size());
    sorted.push_back(all[i]);
  }
  for (KernelDetails& details : trace->kernel_details) {
    if (details.communication < place_of.size())
      details.communication = place_of[details.communication];
  }
  all = std::move(sorted);
}

}  // namespace oplens::parse
