#ifndef OPLENS_PARSE_JOIN_FOR_EACH_OP_H_
#define OPLENS_PARSE_JOIN_FOR_EACH_OP_H_

#include <algorithm>
#include <cstdint>

#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/surroundings.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Calls f(op, mod) for each op around a call by PyProf's rule: annotated calls; else backward
/// nodes; else forward sequence ranges; else the outermost free text. mod 0: unknown.
template <typename F>
void ForEachOp(const Joined& joined, const Surroundings& around, F f) {
  const OpCalls& calls = joined.calls();
  const auto ops = joined.RangesOf(around, Around::kOps);
  for (const uint32_t range : ops) f(calls.OpOf(range).op, calls.ModOf(range));
  if (!ops.empty()) return;
  const auto sequences = joined.RangesOf(around, Around::kSequences);
  const auto is_node = [&](uint32_t range) { return calls.SequenceOf(range).backward_node; };
  const bool nodes = std::any_of(sequences.begin(), sequences.end(), is_node);
  for (const uint32_t range : sequences) {
    if (!nodes || is_node(range)) f(calls.SequenceOf(range).op, StringId{0});
  }
  const auto paths = joined.RangesOf(around, Around::kPaths);
  if (!sequences.empty() || paths.empty()) return;
  const Range& outermost = joined.trace().ranges[paths.front()];
  if (!outermost.open() && outermost.kind == RangeKind::kMarker) f(outermost.text, StringId{0});
}

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_FOR_EACH_OP_H_
