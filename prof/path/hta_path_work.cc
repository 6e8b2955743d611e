#include "prof/path/hta_path_graph.h"

// What work waits for, and who waits for work.

namespace oplens::prof {
namespace {

using HtaPathWorkEvent = HtaPathEvent;
using HtaPathWorkKind = HtaPathEvent::Kind;

constexpr uint32_t kHtaPathWorkNone = HtaPathEvent::kNone;

/// Gaps of a stream that are longer have some other cause.
constexpr int64_t kMostKernelGapUs = 1500;

}  // namespace

/// The last launch into the stream of an event before it was recorded.
void HtaPathGraph::FindRecords() {
  const auto all = events_.all();
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (events_.Launches(all[i]) && all[i].link != kHtaPathWorkNone &&
        all[all[i].link].stream != -1) {
      launches_.push_back(i);
    }
  }
  std::stable_sort(launches_.begin(), launches_.end(),
                   [&](uint32_t a, uint32_t b) { return all[a].start_us < all[b].start_us; });
  for (const uint32_t launch : launches_) {
    launches_by_[{all[launch].thread_id, all[all[launch].link].stream}].push_back(launch);
  }
  std::unordered_map<int64_t, int64_t> streams;  // By correlation id of the recording.
  for (const HtaPathWorkEvent& event : all) {
    if (event.record_stream >= 0) streams[event.record_correlation_id] = event.record_stream;
  }
  std::vector<uint32_t> records;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == HtaPathWorkKind::kCall && streams.contains(all[i].correlation_id) &&
        events_.NameOf(all[i]) == "cudaEventRecord") {
      records.push_back(i);
    }
  }
  std::stable_sort(records.begin(), records.end(),
                   [&](uint32_t a, uint32_t b) { return all[a].start_us < all[b].start_us; });
  std::unordered_map<int64_t, uint32_t> last;  // By stream.
  size_t next = 0;
  for (const uint32_t record : records) {
    for (; next < launches_.size() && all[launches_[next]].start_us <= all[record].start_us;
         ++next) {
      last[all[all[launches_[next]].link].stream] = launches_[next];
    }
    const auto found = last.find(streams[all[record].correlation_id]);
    if (found != last.end()) last_launch_[all[record].correlation_id] = found->second;
  }
}

/// The next launch of a thread into the stream that waits.
uint32_t HtaPathGraph::NextLaunch(const HtaPathWorkEvent& wait) const {
  const HtaPathWorkEvent& call = events_[wait.link];
  const auto launches = launches_by_.find({call.thread_id, wait.stream});
  if (launches == launches_by_.end()) return kHtaPathWorkNone;
  const std::vector<uint32_t>& list = launches->second;
  const auto first = std::partition_point(list.begin(), list.end(), [&](uint32_t launch) {
    return events_[launch].start_us < call.start_us;
  });
  return first == list.end() ? kHtaPathWorkNone : *first;
}

void HtaPathGraph::TakeWait(const HtaPathWorkEvent& wait) {
  const uint32_t end = wait.link == kHtaPathWorkNone ? kHtaPathWorkNone : ends_[wait.link];
  const bool for_event = wait.wait == WaitKind::kEvent || wait.wait == WaitKind::kStreamWaitEvent;
  if (for_event) {
    const auto launch = last_launch_.find(wait.record_correlation_id);
    if (launch == last_launch_.end() || wait.link == kHtaPathWorkNone) return;
    const uint32_t source = events_[launch->second].link;
    if (wait.wait == WaitKind::kStreamWaitEvent) {
      const uint32_t next = NextLaunch(wait);
      if (next != kHtaPathWorkNone) work_waits_[events_[next].link] = source;
    } else if (ends_[source] != kHtaPathWorkNone && end != kHtaPathWorkNone) {
      Add(ends_[source], end, HtaEdgeType::kSync);
    }
    return;
  }
  if (end == kHtaPathWorkNone ||
      (wait.wait != WaitKind::kStream && wait.wait != WaitKind::kContext))
    return;
  for (const auto& [stream, node] : last_of_stream_) {
    if (wait.wait == WaitKind::kContext || stream == wait.stream)
      Add(node, end, HtaEdgeType::kSync);
  }
}

void HtaPathGraph::TakeWork(uint32_t index) {
  const HtaPathWorkEvent& event = events_[index];
  const uint32_t start = starts_[index];
  const uint32_t end = ends_[index];
  Add(start, end, HtaEdgeType::kOperator);
  std::optional<int64_t> source_us;
  const auto wait = work_waits_.find(index);
  if (wait != work_waits_.end()) {
    if (ends_[wait->second] != kHtaPathWorkNone) {
      source_us = nodes_[ends_[wait->second]].time_us;
      Add(ends_[wait->second], start, HtaEdgeType::kSync);
    }
    work_waits_.erase(wait);
  }
  const auto last = std::find_if(last_of_stream_.begin(), last_of_stream_.end(),
                                 [&](const auto& item) { return item.first == event.stream; });
  const bool any = last != last_of_stream_.end();
  const int64_t last_us = any ? nodes_[last->second].time_us : 0;
  const int64_t call_us = events_[event.link].start_us;
  const bool queue_empty = events_.QueueAt(event.link) == 1 && events_.QueueAt(index) == 0;
  if (queue_empty && (!any || last_us < call_us) && (!source_us || *source_us < call_us)) {
    if (starts_[event.link] != kHtaPathWorkNone)
      Add(starts_[event.link], start, HtaEdgeType::kLaunch);
  } else if (any && event.start_us - last_us < kMostKernelGapUs &&
             (!source_us || *source_us < last_us)) {
    Add(last->second, start, HtaEdgeType::kKernelKernel);
  }
  if (any) {
    last->second = end;
  } else {
    last_of_stream_.emplace_back(event.stream, end);
  }
}

void HtaPathGraph::AddWork() {
  FindRecords();
  std::vector<uint32_t> work;
  for (const uint32_t index : clipped_) {
    const HtaPathWorkEvent& event = events_[index];
    if (event.OnHost() || event.link == kHtaPathWorkNone) continue;
    const bool whole_device = event.wait == WaitKind::kEvent || event.wait == WaitKind::kContext;
    if (event.stream != -1 || whole_device) work.push_back(index);
  }
  const auto key = [&](uint32_t index) {
    const HtaPathWorkEvent& event = events_[index];
    return event.kind == HtaPathWorkKind::kWait ? event.end_us : event.start_us;
  };
  std::stable_sort(work.begin(), work.end(),
                   [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  for (const uint32_t index : work) {
    if (events_[index].kind == HtaPathWorkKind::kWait) {
      TakeWait(events_[index]);
    } else {
      TakeWork(index);
    }
  }
}

}  // namespace oplens::prof
