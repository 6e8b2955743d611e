#ifndef OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_
#define OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "parse/join/range_roles.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The ops and sequence ranges that may have made the nodes of a trace, by process and sequence
/// number. If numbers repeat in each iteration, or ops have no number (0), one number has a
/// candidate per iteration; only few of them are checked for each node.
///
/// O(R + N) for R ranges and N nodes and candidates, shared by up to ThreadLimit() threads. Memory:
/// 32 bytes per number of a node, 4 per node and 4 per candidate; 8 more per candidate meanwhile.
class ForwardCandidates {
 public:
  /// Those of `nodes`. All must outlive this object.
  ForwardCandidates(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks,
                    const StepContexts& contexts, const RangeRoles& roles,
                    std::span<const BackwardNode> nodes);

  /// Candidates of one number on one thread, in order of start, as indices in the list of all.
  struct Run {
    uint32_t begin = 0;
    uint32_t end = 0;
    ThreadIndex thread = 0;

    bool empty() const { return begin == end; }
  };

  /// Returns the candidates with the number of the node at that place in `nodes`, one run per
  /// thread.
  std::span<const Run> Of(size_t node) const {
    const uint32_t slot = node_slots_[node];
    return {runs_.data() + run_bounds_[slot], run_bounds_[slot + 1] - run_bounds_[slot]};
  }
  /// Returns the part of a run that begins before `time_ns`, or, with `through`, at it too.
  Run Before(const Run& run, int64_t time_ns, bool through) const;

 private:
  friend class FittingCandidates;
  using Found = std::vector<std::pair<uint32_t, uint32_t>>;  // Slot and range.

  void FindSlots(std::span<const BackwardNode> nodes);
  std::vector<Found> FindAll(const ThreadRanges& threads, const LeakedRanges& leaks,
                             const StepContexts& contexts) const;
  uint32_t EndOfRun(uint32_t begin) const;

  const Trace& trace_;
  const RangeRoles& roles_;
  std::unordered_map<int64_t, IdMap> slots_;  // By process; by sequence number, into run_bounds_.
  std::vector<uint32_t> node_slots_;          // By node.
  std::vector<uint32_t> run_bounds_;          // By slot; one more at the end.
  std::vector<Run> runs_;
  std::vector<uint32_t> ranges_;
};

/// Chooses among candidates by their names, and remembers what it asked: one for each part of the
/// nodes. O(log N) for a node, times the (few) names of nodes with one number; if names do not fit,
/// O(N), up to 32 MB for all that there are at once, and 8 bytes per candidate for each.
class FittingCandidates {
 public:
  /// `at_once`: how many there may be at once.
  FittingCandidates(const ForwardCandidates& all, size_t at_once);

  /// Returns the range of the run's last candidate whose name fits the node's, or kNoRange.
  uint32_t LastThatFits(const ForwardCandidates::Run& run, std::string_view node_name);
  /// Returns the range of the outermost candidate around the run's last one.
  uint32_t OutermostEnclosingLast(const ForwardCandidates::Run& run);

 private:
  const std::string& BareNameOf(std::string_view name);
  const std::string& BareNameAt(uint32_t place);
  /// Per index in the whole run from `begin`: 1 + last index up to it whose name fits; 0: none.
  const std::vector<uint32_t>& FitsOf(uint32_t begin, const std::string& bare_node);

  const ForwardCandidates& all_;
  std::unordered_map<std::string_view, std::string> bare_names_;  // By text without sequence.
  // Made if a search back from the last candidate would be long; by the run's begin.
  std::map<std::pair<uint32_t, std::string>, std::vector<uint32_t>> fits_;
  size_t fits_size_ = 0;
  size_t most_fits_;
  std::unordered_map<uint32_t, std::vector<int64_t>> latest_ends_;  // Maximum end up to each index.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_
