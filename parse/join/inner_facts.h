#ifndef OPLENS_PARSE_JOIN_INNER_FACTS_H_
#define OPLENS_PARSE_JOIN_INNER_FACTS_H_

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/op_call.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Adds to a call the facts that are missing in its arguments but follow from the calls inside it:
///   aten::index     `output`, a tensor: its result, from the as_strided of its source inside;
///                   `indices`, tensors: those that are reshaped inside
///   *::moe_forward  `topk`: experts per row; `intermediate`: of one expert; from the buffers that
///                   are allocated inside
/// Returns false if there are none.
bool AddInnerFacts(std::span<const OpCall> inner, OpCall* call);

/// The operator calls of a trace, completed by the calls inside them. One sweep over the ranges of
/// each thread; equal calls are read once.
class InnerFacts {
 public:
  /// Adds completed calls to the trace's strings and to `texts`.
  InnerFacts(Trace* trace, const ThreadRanges& threads, RangeTexts* texts);

  /// The text of a range's completed call; 0: nothing was added.
  StringId Of(uint32_t range) const {
    const auto found = completed_.find(range);
    return found == completed_.end() ? 0 : found->second;
  }
  bool empty() const { return completed_.empty(); }

 private:
  struct Open {
    uint32_t range = 0;
    int64_t end_ns = 0;
    std::vector<StringId> calls;  // Its own, then those inside it.
  };

  uint8_t RoleOf(StringId name);
  void SweepThread(size_t begin, size_t end);
  void Close(const Open& open);
  StringId Complete(const std::vector<StringId>& calls);

  Trace& trace_;
  RangeTexts& texts_;
  std::vector<uint8_t> roles_;  // By StringId of names.
  std::vector<Open> open_;      // Innermost last.
  std::map<std::vector<StringId>, StringId> known_;
  std::unordered_map<uint32_t, StringId> completed_;  // By range.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_INNER_FACTS_H_
