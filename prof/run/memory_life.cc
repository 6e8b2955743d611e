#include "prof/run/memory_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/id_map.h"
#include "base/saturating.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

constexpr int64_t kUnknownAddress = 0;

using PoolKey = std::pair<int32_t, MemorySource>;

PoolKey KeyOf(const MemoryEvent& event) { return {std::max(event.device_id, -1), event.source}; }

}  // namespace

MemoryLeaks::MemoryLeaks(const MemoryLife& memory, const Steps& steps)
    : memory_(memory), steps_(steps) {
  for (const MemoryLife::Pool& pool : memory.pools()) {
    last_ns_ = std::max(last_ns_, memory.EventAt(pool.end - 1).time_ns);
  }
}

std::optional<bool> MemoryLeaks::IsLeak(const MemoryLife::Piece& piece) const {
  if (steps_.source() == StepSource::kNone || piece.state == MemoryState::kUnknown) {
    return std::nullopt;
  }
  if (piece.state != MemoryState::kAlive) return false;
  const size_t step = steps_.OfHost(memory_.EventAt(piece.begin).time_ns);
  return step != Steps::kNone && steps_.all()[step].host.end_ns < last_ns_;
}

std::string_view MemoryStateWord(MemoryState state) {
  switch (state) {
    case MemoryState::kFreed:
      return "freed";
    case MemoryState::kAlive:
      return "alive";
    case MemoryState::kOnlyFreed:
      return "only freed";
    case MemoryState::kLost:
      return "lost";
    case MemoryState::kUnknown:
      return "unknown";
  }
  return "";
}

std::string_view MemorySourceWord(MemorySource source) {
  return source == MemorySource::kDriver ? "driver" : "framework";
}

std::string MemoryDeviceName(int32_t device_id) {
  return device_id < 0 ? "CPU" : fmt::format("GPU{}", device_id);
}

int64_t MemorySizeOf(const MemoryEvent& event) {
  return event.size_bytes < 0 ? SaturatingDifference(0, event.size_bytes) : event.size_bytes;
}

MemoryLife::MemoryLife(const Trace& trace) : trace_(trace) {
  Sort();
  allocated_.resize(order_.size());
  for (Pool& pool : pools_) {
    Pair(&pool);
    if (pool.told) {
      SumTold(&pool);
    } else {
      SumPieces(&pool);
    }
    for (uint32_t place = pool.begin; place < pool.end; ++place) {
      const int64_t reserved = ReservedAt(pool, place);
      if (reserved >= 0 && allocated_[place] > reserved) ++pool.counts.over_reserved;
    }
  }
}

void MemoryLife::Sort() {
  const std::vector<MemoryEvent>& events = trace_.memory_events;
  std::map<PoolKey, std::pair<uint32_t, int64_t>> found;  // Its number, and the previous time.
  for (const MemoryEvent& event : events) found[KeyOf(event)] = {0, INT64_MIN};
  while (found.size() > kMaxPools) found.erase(std::prev(found.end()));
  for (const auto& [key, unused] : found) {
    Pool& pool = pools_.emplace_back();
    std::tie(pool.device_id, pool.source) = key;
  }
  uint32_t number = 0;
  for (auto& [key, state] : found) state.first = number++;
  std::vector<std::pair<uint32_t, uint32_t>> placed;  // Pool and event.
  placed.reserve(events.size());
  for (uint32_t i = 0; i < events.size(); ++i) {
    const auto at = found.find(KeyOf(events[i]));
    if (at == found.end()) {
      ++left_out_;
      continue;
    }
    auto& [pool, before_ns] = at->second;
    if (events[i].time_ns < before_ns) ++pools_[pool].counts.out_of_order;
    before_ns = events[i].time_ns;
    pools_[pool].told |= events[i].total_allocated_bytes >= 0;
    pools_[pool].reserves |= events[i].total_reserved_bytes > 0;
    placed.emplace_back(pool, i);
  }
  std::sort(placed.begin(), placed.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.first, events[a.second].time_ns, a.second) <
           std::tuple(b.first, events[b.second].time_ns, b.second);
  });
  order_.reserve(placed.size());
  for (const auto& [number_of, event] : placed) {
    Pool& pool = pools_[number_of];
    const auto place = static_cast<uint32_t>(order_.size());
    if (pool.end == 0) pool.begin = place;
    pool.end = place + 1;
    if (place > pool.begin && EventAt(place - 1).time_ns == events[event].time_ns) {
      ++pool.counts.same_time;
    }
    order_.push_back(event);
  }
}

int64_t MemoryLife::ProcessOf(const MemoryEvent& event) const {
  return event.thread < trace_.threads.size() ? trace_.threads[event.thread].process_id : 0;
}

void MemoryLife::Pair(Pool* pool) {
  pool->first_piece = static_cast<uint32_t>(pieces_.size());
  std::vector<Link> links;
  for (uint32_t place = pool->begin; place < pool->end; ++place) {
    const MemoryEvent& event = EventAt(place);
    if (event.size_bytes == 0) ++pool->counts.without_size;
    if (event.address == kUnknownAddress) {
      ++pool->counts.without_address;
      if (event.size_bytes > 0) pieces_.push_back({place, kNone, MemoryState::kUnknown});
      continue;
    }
    links.push_back({ProcessOf(event), event.address, place});
  }
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tie(a.process, a.address, a.place) < std::tie(b.process, b.address, b.place);
  });
  for (size_t begin = 0; begin < links.size();) {
    size_t end = begin;
    while (end < links.size() && links[end].process == links[begin].process &&
           links[end].address == links[begin].address) {
      ++end;
    }
    PairAddress(std::span(links).subspan(begin, end - begin), pool);
    begin = end;
  }
  pool->end_piece = static_cast<uint32_t>(pieces_.size());
}

// An allocation at an address that is still in use waits for releases at the same moment:
//
//     time 5: +A (open since 2), -A      ->  -A, +A
void MemoryLife::PairAddress(std::span<const Link> links, Pool* pool) {
  uint32_t open = kNone;  // Index into pieces_.
  for (size_t begin = 0; begin < links.size();) {
    const int64_t time_ns = EventAt(links[begin].place).time_ns;
    size_t end = begin;
    size_t releases = 0;
    for (; end < links.size() && EventAt(links[end].place).time_ns == time_ns; ++end) {
      if (EventAt(links[end].place).size_bytes <= 0) ++releases;
    }
    std::vector<uint32_t> waiting;
    size_t next = 0;  // Next waiting allocation.
    for (; begin < end; ++begin) {
      const uint32_t place = links[begin].place;
      if (EventAt(place).size_bytes > 0) {
        // It does not overtake a waiting one.
        if (open != kNone && (releases > 0 || next < waiting.size())) {
          waiting.push_back(place);
        } else {
          Take(place, &open, pool);
        }
        continue;
      }
      --releases;
      Release(place, &open, pool);
      if (open == kNone && next < waiting.size()) Take(waiting[next++], &open, pool);
    }
    for (; next < waiting.size(); ++next) Take(waiting[next], &open, pool);
  }
}

void MemoryLife::Take(uint32_t place, uint32_t* open, Pool* pool) {
  if (*open != kNone) {
    ++pool->counts.lost;
    pieces_[*open].end = place;
    pieces_[*open].state = MemoryState::kLost;
  }
  *open = static_cast<uint32_t>(pieces_.size());
  pieces_.push_back({place, kNone, MemoryState::kAlive});
}

void MemoryLife::Release(uint32_t place, uint32_t* open, Pool* pool) {
  const MemoryEvent& event = EventAt(place);
  if (*open == kNone) {
    if (event.size_bytes == 0) return;
    ++pool->counts.only_freed;
    pieces_.push_back({kNone, place, MemoryState::kOnlyFreed});
    return;
  }
  Piece& piece = pieces_[*open];
  piece.end = place;
  piece.state = MemoryState::kFreed;
  if (event.size_bytes != 0 && MemorySizeOf(event) != EventAt(piece.begin).size_bytes) {
    ++pool->counts.other_size;
  }
  *open = kNone;
}

// What a process had before the recording is its first total minus all that it took until then.
void MemoryLife::SumTold(Pool* pool) {
  struct Process {
    int64_t total = 0;  // At first what it took, then all that it has.
    bool told = false;
  };
  IdMap numbers;
  std::vector<Process> processes;
  const auto process_of = [&](const MemoryEvent& event) -> Process& {
    const auto next = static_cast<uint32_t>(processes.size());
    const uint32_t number = numbers.FindOrInsert(ProcessOf(event), next);
    if (number == next) processes.emplace_back();
    return processes[number];
  };
  for (uint32_t place = pool->begin; place < pool->end; ++place) {
    const MemoryEvent& event = EventAt(place);
    Process& process = process_of(event);
    if (process.told) continue;
    SaturatingAdd(&process.total, event.size_bytes);
    if (event.total_allocated_bytes < 0) continue;
    process.told = true;
    process.total = SaturatingDifference(event.total_allocated_bytes, process.total);
  }
  for (Process& process : processes) {
    if (!process.told) process.total = 0;
    SaturatingAdd(&pool->base_bytes, process.total);
  }
  int64_t total = pool->base_bytes;
  for (uint32_t place = pool->begin; place < pool->end; ++place) {
    const MemoryEvent& event = EventAt(place);
    Process& process = process_of(event);
    const int64_t now = event.total_allocated_bytes >= 0
                            ? event.total_allocated_bytes
                            : SaturatingSum(process.total, event.size_bytes);
    SaturatingAdd(&total, SaturatingDifference(now, process.total));
    process.total = now;
    allocated_[place] = total;
  }
}

void MemoryLife::SumPieces(Pool* pool) {
  // First the change made by each event.
  for (uint32_t place = pool->begin; place < pool->end; ++place) {
    const MemoryEvent& event = EventAt(place);
    if (event.address == kUnknownAddress) allocated_[place] = event.size_bytes;
  }
  for (const Piece& piece : PiecesOf(*pool)) {
    if (piece.state == MemoryState::kUnknown) continue;
    const int64_t size = MemorySizeOf(EventAt(piece.begin == kNone ? piece.end : piece.begin));
    int64_t& before = piece.begin == kNone ? pool->base_bytes : allocated_[piece.begin];
    SaturatingAdd(&before, size);
    if (piece.end == kNone) continue;
    allocated_[piece.end] = SaturatingDifference(allocated_[piece.end], size);
  }
  int64_t total = pool->base_bytes;
  for (uint32_t place = pool->begin; place < pool->end; ++place) {
    SaturatingAdd(&total, allocated_[place]);
    allocated_[place] = total;
  }
}

int64_t MemoryLife::PeakOf(const Pool& pool,
                           const std::optional<std::vector<Interval>>& windows) const {
  int64_t peak = windows ? kNowhere : int64_t{pool.begin} - 1;
  for (uint32_t place = pool.begin; place < pool.end; ++place) {
    if (windows && !IsWithin(*windows, EventAt(place).time_ns)) continue;
    if (peak == kNowhere || allocated_[place] > AllocatedBehind(pool, peak)) peak = place;
  }
  return peak;
}

}  // namespace oplens::prof
