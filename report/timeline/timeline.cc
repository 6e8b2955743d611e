#include "report/timeline/timeline.h"

#include <algorithm>
#include <utility>

namespace oplens::report {
namespace {

constexpr std::string_view kLinkWords[] = {"launch", "backward", "critical"};

constexpr uint32_t kGone = UINT32_MAX;

// Bytes of the limit per lane and per step: about five times what each needs.
constexpr size_t kBytesOfLane = 2000;
constexpr size_t kBytesOfStep = 500;

void KeepLanes(size_t most, Timeline* timeline) {
  std::vector<Lane>& lanes = timeline->lanes;
  if (lanes.size() <= most) return;
  std::vector<uint32_t> order;
  for (size_t i = 0; i < lanes.size(); ++i) order.push_back(static_cast<uint32_t>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return lanes[a].events > lanes[b].events; });
  timeline->lanes_left_out = lanes.size() - most;
  std::vector<uint32_t> places(lanes.size(), 0);
  for (size_t i = most; i < order.size(); ++i) places[order[i]] = kGone;
  std::vector<Lane> kept;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (places[i] == kGone) continue;
    places[i] = static_cast<uint32_t>(kept.size());
    kept.push_back(std::move(lanes[i]));
  }
  lanes = std::move(kept);
  for (Link& link : timeline->links) {
    link.from.lane = places[link.from.lane];
    link.to.lane = places[link.to.lane];
  }
  std::erase_if(timeline->links,
                [](const Link& link) { return link.from.lane == kGone || link.to.lane == kGone; });
}

}  // namespace

std::string_view LinkWord(Link::Kind kind) { return kLinkWords[static_cast<size_t>(kind)]; }

void KeepAtMost(size_t most_lanes, size_t most_steps, Timeline* timeline) {
  KeepLanes(most_lanes, timeline);
  const size_t most = most_steps / std::max<size_t>(timeline->ranks.size(), 1);
  for (Rank& rank : timeline->ranks) {
    if (rank.steps.size() <= most) continue;
    rank.steps_left_out = rank.steps.size() - most;
    rank.steps.resize(most);
  }
}

void KeepWhatFits(size_t limit_bytes, Timeline* timeline) {
  KeepAtMost(limit_bytes / kBytesOfLane, limit_bytes / kBytesOfStep, timeline);
}

}  // namespace oplens::report
