#ifndef OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_
#define OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_

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
/// number. Files whose numbers come again in each iteration, or whose ops have no number (0), have
/// as many of one number as there are iterations: of these few are looked at for each node.
///
/// O(R + N log N) for R ranges and N nodes and candidates, times the names of nodes with one
/// number, which are few. 28 bytes a number of a node and 4 a candidate; where names do not fit up
/// to 32 MB and 8 bytes a candidate more.
class ForwardCandidates {
 public:
  ForwardCandidates(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks,
                    const StepContexts& contexts, const RangeRoles& roles);

  /// Candidates of one number on one thread: places in the list of all, in the order of starts.
  struct Run {
    uint32_t begin = 0;
    uint32_t end = 0;
    ThreadIndex thread = 0;

    bool empty() const { return begin == end; }
  };

  /// Those with the number of a node, a run a thread.
  std::span<const Run> Of(const BackwardNode& node) const;
  /// The first of a run, up to those that begin at `time_ns`; `through`: with these.
  Run Before(const Run& run, int64_t time_ns, bool through) const;

  /// Range of the last of the first candidates of a run whose name fits that of a node; kNoRange:
  /// none does.
  uint32_t LastThatFits(const Run& run, std::string_view node_name);
  /// Range of the outermost around the last of them.
  uint32_t OutermostAroundLast(const Run& run);

 private:
  const std::string& BareNameAt(uint32_t place);
  /// Of each place of the whole run that begins at `begin`: 1 + the last up to it whose name fits;
  /// 0: none.
  const std::vector<uint32_t>& FitsOf(uint32_t begin, const std::string& bare_node);
  /// Where the whole run ends that begins at a place.
  uint32_t EndOfRun(uint32_t begin) const;

  const Trace& trace_;
  const RangeRoles& roles_;
  std::unordered_map<int64_t, IdMap> slots_;  // By process; by sequence number, into run_bounds_.
  std::vector<uint32_t> run_bounds_;          // By slot; one more at the end.
  std::vector<Run> runs_;
  std::vector<uint32_t> ranges_;
  std::unordered_map<StringId, std::string> bare_names_;  // By text of a range.
  // Made when a walk from the last one on would be long: by the place where the run begins.
  std::map<std::pair<uint32_t, std::string>, std::vector<uint32_t>> fits_;
  size_t fits_size_ = 0;
  std::unordered_map<uint32_t, std::vector<int64_t>> latest_ends_;  // The latest end up to a place.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_
