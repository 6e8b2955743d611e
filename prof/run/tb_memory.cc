#include "prof/run/tb_memory.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/id_map.h"

namespace oplens::prof {
namespace {

/// Microseconds as the plugin reads them. Times since 1970 have more digits in ns than a double.
double TbMemoryMicrosecondsOf(int64_t time_ns) {
  constexpr int64_t kNsPerMicrosecond = 1000;
  return static_cast<double>(time_ns / kNsPerMicrosecond) +
         static_cast<double>(time_ns % kNsPerMicrosecond) / static_cast<double>(kNsPerMicrosecond);
}

}  // namespace

TbMemory::TbMemory(const Trace& trace, const TbTree& tree)
    : trace_(trace), tree_(tree), visited_(tree.nodes().size(), false) {
  for (uint32_t i = 0; i < trace.memory_events.size(); ++i) {
    if (trace.memory_events[i].source != MemorySource::kFramework) continue;
    records_.emplace_back().event = i;
  }
  std::sort(records_.begin(), records_.end(), [&](const Record& a, const Record& b) {
    return std::tuple(trace.memory_events[a.event].time_ns, a.event) <
           std::tuple(trace.memory_events[b.event].time_ns, b.event);
  });
  Place();
}

void TbMemory::Place() {
  const auto thread_of = [&](uint32_t record) {
    const ThreadIndex thread = EventOf(record).thread;
    return thread < trace_.threads.size() ? trace_.threads[thread].thread_id : kUnknownId;
  };
  std::vector<uint32_t> by_thread(records_.size());
  std::iota(by_thread.begin(), by_thread.end(), 0u);
  std::sort(by_thread.begin(), by_thread.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(thread_of(a), a) < std::tuple(thread_of(b), b);
  });
  for (size_t begin = 0; begin < by_thread.size();) {
    size_t end = begin;
    while (end < by_thread.size() && thread_of(by_thread[end]) == thread_of(by_thread[begin])) {
      ++end;
    }
    const uint32_t root = tree_.RootOf(thread_of(by_thread[begin]));
    if (root != TbTree::kNone) {
      PlaceThread(std::span(by_thread).subspan(begin, end - begin), root);
    }
    begin = end;
  }
}

// Both the events and the nodes come by time: nothing is looked at twice.
void TbMemory::PlaceThread(std::span<const uint32_t> records, uint32_t root) {
  const std::span<const TbTree::Node> nodes = tree_.nodes();
  const auto start_of = [&](uint32_t node) {
    return trace_.torch_events[nodes[node].event].start_us;
  };
  const auto end_of = [&](uint32_t node) { return trace_.torch_events[nodes[node].event].end_us; };
  std::vector<uint32_t> around = {root};
  uint32_t child = nodes[root].first_child;  // Of the last of these: the next that may begin.
  for (const uint32_t record : records) {
    const double time_us = TbMemoryMicrosecondsOf(EventOf(record).time_ns);
    while (around.size() > 1 && time_us >= end_of(around.back())) {
      child = nodes[around.back()].next;
      around.pop_back();
    }
    while (child != TbTree::kNone && time_us >= start_of(child)) {
      if (time_us >= end_of(child)) {
        child = nodes[child].next;
      } else {
        visited_[child] = true;
        around.push_back(child);
        child = nodes[child].first_child;
      }
    }
    if (!nodes[around.back()].listed) continue;
    records_[record].owner = around.back();
    records_[record].parent = around[around.size() - 2];
  }
}

std::vector<TbMemory::Pair> TbMemory::Pairs() const {
  std::vector<Pair> pairs;
  IdMap taken;  // By address.
  IdMap freed;
  for (uint32_t record = 0; record < records_.size(); ++record) {
    const MemoryEvent& event = EventOf(record);
    if (event.address == 0) continue;
    const uint32_t open = taken.Erase(event.address);
    if (event.size_bytes > 0) {
      taken.FindOrInsert(event.address, record);
    } else if (open != IdMap::kNone) {
      pairs.push_back({open, record});
    } else {
      freed.Erase(event.address);
      freed.FindOrInsert(event.address, record);
    }
  }
  for (uint32_t record = 0; record < records_.size(); ++record) {
    const int64_t address = EventOf(record).address;
    if (address == 0) continue;
    if (taken.Find(address) == record) pairs.push_back({record, kNone});
    if (freed.Find(address) == record) pairs.push_back({kNone, record});
  }
  return pairs;
}

}  // namespace oplens::prof
