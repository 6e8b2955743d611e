#include "parse/readers/common/event_records.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace oplens::parse {
namespace {

/// A recording, with the facts that a wait has about it.
struct Entry {
  int64_t process_id = kUnknownId;
  int32_t context_id = 0;
  uint32_t event_id = kNoEvent;
  int64_t time_ns = 0;
  ItemIndex record = kNoItem;

  auto event() const { return std::tuple(process_id, context_id, event_id); }
  auto key() const { return std::tuple(process_id, context_id, event_id, time_ns); }
};

int64_t ProcessOf(const Trace& trace, LaunchIndex launch) {
  return trace.threads[trace.launches[launch].thread].process_id;
}

}  // namespace

void LinkEventRecords(Trace* trace) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < trace->event_records.size(); ++i) {
    const EventRecord& record = trace->event_records[i];
    // Without its call, its time is unknown.
    if (record.launch == kNoLaunch || record.event_id == kNoEvent) continue;
    entries.push_back({ProcessOf(*trace, record.launch), record.context_id, record.event_id,
                       trace->launches[record.launch].start_ns, static_cast<ItemIndex>(i)});
  }
  const auto before = [](const Entry& a, const Entry& b) { return a.key() < b.key(); };
  std::stable_sort(entries.begin(), entries.end(), before);
  for (Synchronization& wait : trace->synchronizations) {
    const bool open = wait.event_id != kNoEvent && wait.event_record == kNoItem;
    if (!open || wait.launch == kNoLaunch) continue;
    const Entry key = {ProcessOf(*trace, wait.launch), wait.context_id, wait.event_id,
                       trace->launches[wait.launch].start_ns, kNoItem};
    const auto after = std::upper_bound(entries.begin(), entries.end(), key, before);
    if (after == entries.begin()) continue;
    const Entry& last = *(after - 1);
    if (last.event() == key.event()) wait.event_record = last.record;
  }
}

}  // namespace oplens::parse
