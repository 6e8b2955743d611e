#ifndef OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_
#define OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/id_map.h"
#include "parse/join/range_roles.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The ops and sequence ranges that may have made the nodes of a trace, by process and sequence
/// number. 24 bytes a number of a node, 8 an op.
class ForwardCandidates {
 public:
  ForwardCandidates(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks,
                    const StepContexts& contexts, const RangeRoles& roles);

  /// Those with the number of a node, in the order of their starts.
  std::span<const uint32_t> Of(const BackwardNode& node) const;

 private:
  /// Index of a number, IdMap::kNone where no node has it.
  uint32_t SlotOf(int64_t process_id, int64_t sequence) const;

  std::unordered_map<int64_t, IdMap> slots_;  // By process; by sequence number.
  std::vector<uint32_t> bounds_;              // By slot; one more at the end.
  std::vector<uint32_t> ranges_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_FORWARD_CANDIDATES_H_
