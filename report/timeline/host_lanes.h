#ifndef OPLENS_REPORT_TIMELINE_HOST_LANES_H_
#define OPLENS_REPORT_TIMELINE_HOST_LANES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "parse/join/joined.h"
#include "prof/path/critical_path.h"
#include "report/timeline/host_times.h"
#include "report/timeline/path_strip.h"
#include "report/timeline/signatures.h"
#include "report/timeline/timeline.h"

namespace oplens::prof {
class Run;
}  // namespace oplens::prof

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::report {

/// Names ranges and API calls of a trace for the timeline: operators as in the view operators, with
/// the shapes and dtype of their tensors; NVTX markers of layers and call stacks by their contents.
/// Parses each distinct text once.
class HostNames {
 public:
  /// Both arguments must outlive this object.
  HostNames(const parse::Joined& joined, Signatures* signatures)
      : joined_(joined), signatures_(*signatures) {}

  uint32_t OfRange(uint32_t range);
  uint32_t OfCall(const LaunchCall& call);

  /// Limit of distinct argument lists; further calls show only their name.
  static constexpr size_t kMaxArguments = size_t{1} << 14;

 private:
  uint32_t OfMarker(uint32_t range, StringId call);
  StringId ArgumentsOf(uint32_t range);
  uint32_t OfOperator(std::string_view name, StringId call);

  const parse::Joined& joined_;
  Signatures& signatures_;
  struct Key {
    StringId text = 0;
    StringId call = 0;  // With the arguments.
    EventClass of = EventClass::kOperator;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t texts = uint64_t{key.text} << 32 | key.call;
      return MixHash(texts, static_cast<uint64_t>(key.of) << 60);
    }
  };
  std::unordered_map<Key, uint32_t, Hash> known_;
  std::unordered_map<StringId, Signatures::Tensors> tensors_;  // By text of a call.
};

/// Pairs of consecutive events of the critical path. Work is from Run::device_work(). 8 bytes for a
/// pair that begins with the end of the one before, else 24.
class PathPairs {
 public:
  void Add(const prof::PathSubject& from, const prof::PathSubject& to) {
    if (chains_.empty() || chains_.back() != from) {
      chains_.emplace_back();
      chains_.push_back(from);
    }
    chains_.push_back(to);
  }
  /// Calls f(from, to) for each pair, in order.
  template <typename F>
  void ForEach(F f) const {
    constexpr auto kNothing = prof::PathSubject::Kind::kNothing;
    for (size_t i = 1; i < chains_.size(); ++i) {
      if (chains_[i - 1].kind != kNothing && chains_[i].kind != kNothing) {
        f(chains_[i - 1], chains_[i]);
      }
    }
  }

 private:
  std::vector<prof::PathSubject> chains_;  // Each begins with one of kind kNothing.
};

/// The transitions between events on the critical paths of a run's steps:
///
///     thread  |- call a -|            |- call b: waits -|          |- call c -|
///                    \                 ^                |               |
///     stream          |- kernel 1 -||- kernel 2 -|                      |- kernel 3 -|
///
/// Omits transitions within a thread, where the path follows the lane, and skips time without an
/// event. `strips` gets all edges. O(n log n): see prof::FindCriticalPaths.
PathPairs CriticalPairsOf(const prof::Run& run, StripMaker* strips);

/// Maps numbers of ranges or API calls to their places on the page. Add all, then Seal, then Find.
/// 16 bytes per event.
class EventPlaces {
 public:
  void Add(uint32_t event, const Link::End& place) { all_.push_back({event, place}); }
  void Seal();
  /// nullopt if it is not on the page. O(log n).
  std::optional<Link::End> Find(uint32_t event) const;
  size_t size() const { return all_.size(); }

 private:
  struct Entry {
    uint32_t event = 0;
    Link::End place;
  };

  std::vector<Entry> all_;
};

/// Builds one lane per thread of a run, with the ranges and API calls of some or all steps in
/// chunks. Visits each event three times and keeps only those in chunks.
class HostLanes {
 public:
  /// Chunks take at most about `max_bytes` on a page of at most `limit_bytes`. `run` and
  /// `timeline` must outlive this object.
  HostLanes(const prof::Run& run, int64_t origin_ns, size_t max_bytes, size_t limit_bytes,
            Timeline* timeline);

  /// Adds the lanes, their chunks, and the links from forward ops to backward nodes among them.
  /// Keeps the places of the events of `path`.
  void Make(const PathPairs& path);

  /// After Make: the place on the page of a call that launched work, or of a call or range on the
  /// path; nullopt if it is in no chunk. O(log n).
  std::optional<Link::End> PlaceOfCall(LaunchIndex call) const { return calls_on_page_.Find(call); }
  std::optional<Link::End> PlaceOfRange(uint32_t range) const {
    return ranges_on_page_.Find(range);
  }

 private:
  /// An event of a thread; times are relative to the origin.
  struct HostEvent {
    LaneEvent event;
    int64_t end_ns = 0;
    uint32_t index = 0;  ///< Of the range or the call.
    bool is_call = false;
    size_t depth = 0;
  };
  template <typename F>
  void ForEach(ThreadIndex thread, F visit) const;
  void SortCalls();
  void MarkLinked(const PathPairs& path);
  void Survey();
  size_t MostEvents(const std::vector<LaneEvent>& sample) const;
  size_t CountOf(ThreadIndex thread) const;
  void PackThread(ThreadIndex thread, Lane* lane);
  void PackChunk(const std::vector<HostEvent>& events, int64_t until_ns, Lane* lane);
  void NotePlaces(std::span<const HostEvent> events, const Lane& lane);
  void LinkBackward();
  uint32_t SignatureOf(const HostEvent& event);

  const prof::Run& run_;
  const Trace& trace_;
  int64_t origin_ns_;
  size_t max_bytes_;
  size_t limit_bytes_;
  Timeline& timeline_;
  HostNames names_;
  int64_t last_ns_ = 0;              // End of ranges that are still open.
  std::vector<LaunchIndex> calls_;   // By thread, then start.
  std::vector<size_t> call_bounds_;  // Per thread, plus the end.
  HostTimes times_;
  std::vector<std::pair<ThreadIndex, uint32_t>> lanes_;  // (thread, lane) of this run.
  // Events that links may connect:
  std::vector<bool> calls_linked_;
  std::vector<bool> ranges_linked_;
  // Those of them in chunks:
  EventPlaces calls_on_page_;
  EventPlaces ranges_on_page_;
  std::vector<std::pair<uint32_t, Link::End>> nodes_;  // By number of the forward op.
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_HOST_LANES_H_
