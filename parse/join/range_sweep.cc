#include "parse/join/range_sweep.h"

#include <algorithm>
#include <functional>

namespace oplens::parse {

void OpenRanges::Clear() {
  lanes_.fill(Lane());
  nodes_.clear();
  free_nodes_.clear();
  nested_.clear();
  crossing_.clear();
  ended_.clear();
  hidden_nodes_.clear();
  ++version_;
}

void OpenRanges::Push(uint32_t range, int64_t start_ns, int64_t end_ns, size_t lane_index) {
  for (; !nested_.empty() && nested_.back().first < start_ns; nested_.pop_back()) {
    ended_.push_back(nested_.back().second);
  }
  uint32_t node = 0;
  if (free_nodes_.empty()) {
    node = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    node = free_nodes_.back();
    free_nodes_.pop_back();
  }
  Lane& lane = lanes_[lane_index];
  nodes_[node] = {range, lane.last, kNone, static_cast<uint8_t>(lane_index), false};
  if (lane.last == kNone) {
    lane.first = node;
  } else {
    nodes_[lane.last].next = node;
  }
  lane.last = node;
  ++lane.count;
  if (end_ns == kNeverClosed) {
    // Nothing to be found by its end.
  } else if (nested_.empty() || end_ns <= nested_.back().first) {
    nested_.emplace_back(end_ns, node);
  } else {
    crossing_.emplace_back(end_ns, node);
    std::push_heap(crossing_.begin(), crossing_.end(), std::greater<>());
  }
  ++version_;
}

void OpenRanges::MoveTo(int64_t start_ns, int64_t end_ns) {
  if (version_ == moved_version_ && start_ns == start_ns_ && end_ns == end_ns_) return;
  if (!hidden_nodes_.empty()) Unhide();
  for (const uint32_t node : ended_) Remove(node);
  ended_.clear();
  for (; !nested_.empty() && nested_.back().first < start_ns; nested_.pop_back()) {
    Remove(nested_.back().second);
  }
  while (!crossing_.empty() && crossing_.front().first < start_ns) {
    const uint32_t node = crossing_.front().second;
    std::pop_heap(crossing_.begin(), crossing_.end(), std::greater<>());
    crossing_.pop_back();
    Remove(node);
  }
  for (size_t i = nested_.size(); i-- > 0 && nested_[i].first < end_ns;) Hide(nested_[i].second);
  HideBelow(0, end_ns);
  moved_version_ = version_;
  start_ns_ = start_ns;
  end_ns_ = end_ns;
}

void OpenRanges::Remove(uint32_t index) {
  const Node& node = nodes_[index];
  Lane& lane = lanes_[node.lane];
  (node.previous == kNone ? lane.first : nodes_[node.previous].next) = node.next;
  (node.next == kNone ? lane.last : nodes_[node.next].previous) = node.previous;
  --lane.count;
  free_nodes_.push_back(index);
  ++version_;
}

void OpenRanges::Hide(uint32_t node) {
  nodes_[node].hidden = true;
  ++lanes_[nodes_[node].lane].hidden;
  hidden_nodes_.push_back(node);
  ++version_;
}

void OpenRanges::Unhide() {
  for (const uint32_t node : hidden_nodes_) {
    nodes_[node].hidden = false;
    --lanes_[nodes_[node].lane].hidden;
  }
  hidden_nodes_.clear();
  ++version_;
}

// The ranges that end before `end_ns` are a subtree at the top of the heap.
void OpenRanges::HideBelow(size_t heap_index, int64_t end_ns) {
  if (heap_index >= crossing_.size() || crossing_[heap_index].first >= end_ns) return;
  Hide(crossing_[heap_index].second);
  HideBelow(2 * heap_index + 1, end_ns);
  HideBelow(2 * heap_index + 2, end_ns);
}

}  // namespace oplens::parse
