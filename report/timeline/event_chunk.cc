#include "report/timeline/event_chunk.h"

#include <algorithm>
#include <vector>

#include "base/saturating.h"
#include "report/data/pack.h"

namespace oplens::report {
namespace {

/// `start_ns` - `since_ns`; any difference of two int64_t fits.
uint64_t Gap(int64_t since_ns, int64_t start_ns) {
  return static_cast<uint64_t>(start_ns) - static_cast<uint64_t>(since_ns);
}

}  // namespace

int64_t LaneEvent::end_ns() const { return SaturatingSum(start_ns, duration_ns); }

EventChunk PackEvents(std::span<const LaneEvent> events, bool with_depth, int64_t covers_to_ns) {
  EventChunk chunk;
  chunk.start_ns = events.front().start_ns;
  chunk.covers_from_ns = chunk.start_ns;
  chunk.covers_to_ns = covers_to_ns;
  chunk.end_ns = chunk.start_ns;
  chunk.count = events.size();
  std::vector<uint64_t> signatures;
  std::vector<uint64_t> gaps;
  std::vector<uint64_t> durations;
  std::vector<uint64_t> depths;
  for (std::vector<uint64_t>* plane : {&signatures, &gaps, &durations, &depths}) {
    plane->reserve(events.size());
  }
  int64_t before_ns = chunk.start_ns;
  for (const LaneEvent& event : events) {
    signatures.push_back(event.signature);
    gaps.push_back(Gap(before_ns, event.start_ns));
    durations.push_back(static_cast<uint64_t>(event.duration_ns));
    if (with_depth) depths.push_back(event.depth);
    before_ns = event.start_ns;
    chunk.end_ns = std::max(chunk.end_ns, event.end_ns());
    chunk.wide = chunk.wide || gaps.back() > UINT32_MAX || durations.back() > UINT32_MAX;
  }
  std::string planes;
  const int width = chunk.wide ? 8 : 4;
  planes.reserve(events.size() * static_cast<size_t>(4 + 2 * width + (with_depth ? 1 : 0)));
  AppendPlanes(signatures, 4, &planes);
  AppendPlanes(gaps, width, &planes);
  AppendPlanes(durations, width, &planes);
  AppendPlanes(depths, 1, &planes);
  chunk.packed = Deflate(planes);
  return chunk;
}

}  // namespace oplens::report
