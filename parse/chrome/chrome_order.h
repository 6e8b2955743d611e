#ifndef OPLENS_PARSE_CHROME_CHROME_ORDER_H_
#define OPLENS_PARSE_CHROME_CHROME_ORDER_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <tuple>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// The order in which the items of a profile are written, as indices: by time, then by content,
/// independent of the order in the file. On a host thread, enclosing ranges come first. Items equal
/// in all that is written are interchangeable. The trace must outlive it.
class ChromeOrder {
 public:
  explicit ChromeOrder(const Trace& trace) : trace_(trace) {
    RankThreads();
    launches_ = Sorted(trace.launches, [this](const LaunchCall& call) {
      return std::tuple(call.start_ns, ~call.end_ns, Rank(call.thread), View(call.api),
                        call.correlation_id);
    });
    launch_ranks_ = RanksOf(launches_);
  }

  /// Thread by thread, in order of their beginnings; within a thread as in the trace.
  std::vector<uint32_t> Ranges() const {
    return Sorted(trace_.ranges,
                  [this](const Range& range) { return std::tuple(Rank(trace_.ThreadOf(range))); });
  }
  std::vector<uint32_t> Instants() const {
    return Sorted(trace_.instants, [this](const Instant& instant) {
      return std::tuple(instant.time_ns, Rank(instant.thread), View(instant.text));
    });
  }
  const std::vector<uint32_t>& Launches() const { return launches_; }
  std::vector<uint32_t> Waits() const {
    return Sorted(trace_.synchronizations, [this](const Synchronization& wait) {
      return std::tuple(wait.start_ns, ~wait.end_ns, RankOfLaunch(wait.launch), wait.kind,
                        wait.context_id, wait.stream_id);
    });
  }
  std::vector<uint32_t> Copies() const {
    return Sorted(trace_.copies, [this](const MemoryCopy& copy) {
      return std::tuple(copy.start_ns, copy.end_ns, copy.device_id, copy.context_id, copy.stream_id,
                        RankOfLaunch(copy.launch), copy.size_bytes, copy.copy_kind,
                        copy.source_kind, copy.target_kind);
    });
  }
  std::vector<uint32_t> Sets() const {
    return Sorted(trace_.sets, [this](const MemorySet& set) {
      return std::tuple(set.start_ns, set.end_ns, set.device_id, set.context_id, set.stream_id,
                        RankOfLaunch(set.launch), set.size_bytes, set.value);
    });
  }
  std::vector<uint32_t> DeviceLabels() const {
    return Sorted(trace_.device_annotations, [this](const DeviceAnnotation& label) {
      return std::tuple(label.start_ns, ~label.end_ns, label.device_id, label.stream_id,
                        View(label.text));
    });
  }
  std::vector<uint32_t> Arrows(const std::vector<ForwardBackwardLink>& arrows) const {
    return Sorted(arrows, [this](const ForwardBackwardLink& link) {
      return std::tuple(Rank(link.backward_thread), link.backward_ns, link.forward_ns,
                        Rank(link.forward_thread));
    });
  }

 private:
  template <typename Item, typename KeyOf>
  static std::vector<uint32_t> Sorted(const std::vector<Item>& items, KeyOf key_of) {
    std::vector<uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](uint32_t a, uint32_t b) { return key_of(items[a]) < key_of(items[b]); };
    if (!std::is_sorted(order.begin(), order.end(), before))
      std::stable_sort(order.begin(), order.end(), before);
    return order;
  }

  static std::vector<uint32_t> RanksOf(const std::vector<uint32_t>& order) {
    std::vector<uint32_t> ranks(order.size());
    for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<uint32_t>(i);
    return ranks;
  }

  /// The file's numbers of threads are by mention; ranks are by the start of their first ranges.
  void RankThreads() {
    std::vector<int64_t> first(trace_.threads.size(), INT64_MAX);
    for (const Range& range : trace_.ranges) {
      int64_t& start_ns = first[trace_.ThreadOf(range)];
      start_ns = std::min(start_ns, range.start_ns);
    }
    thread_ranks_ = RanksOf(Sorted(trace_.threads, [&](const Thread& thread) {
      return std::tuple(first[static_cast<size_t>(&thread - trace_.threads.data())],
                        thread.process_id, thread.thread_id);
    }));
  }

  uint32_t Rank(ThreadIndex thread) const {
    return thread < thread_ranks_.size() ? thread_ranks_[thread] : UINT32_MAX;
  }
  uint32_t RankOfLaunch(LaunchIndex launch) const {
    return launch < launch_ranks_.size() ? launch_ranks_[launch] : UINT32_MAX;
  }
  std::string_view View(StringId id) const { return trace_.strings.View(id); }

  const Trace& trace_;
  std::vector<uint32_t> thread_ranks_;
  std::vector<uint32_t> launches_;
  std::vector<uint32_t> launch_ranks_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_ORDER_H_
