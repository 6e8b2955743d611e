#ifndef OPLENS_PARSE_JOIN_LOOKUP_CALLS_H_
#define OPLENS_PARSE_JOIN_LOOKUP_CALLS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Returns the function of FBGEMM's look-ups in a text: "rowwise_adagrad" for
/// "fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function" and
/// "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>", "dense" for the one without
/// an optimizer; "" for other texts.
std::string LookupOfForward(std::string_view name);
std::string LookupOfNode(std::string_view name);

/// FBGEMM's table look-ups and the nodes of the backward pass that they made. The profiler gives
/// such an op no sequence number, since its node is made inside; but the node's number lies between
/// those of the ops before and after it on the thread. Each completes the other:
///   the look-up   `output`, a tensor: the result, which has the extents of the node's dY
///   the node      its call: SplitLookupFunction_X_Op(dY, arguments of the look-up ..)
///
/// O(R + N log L) for R ranges, N nodes and L look-ups.
class LookupCalls {
 public:
  /// Adds calls to the trace's strings and to `texts`.
  LookupCalls(Trace* trace, const ThreadRanges& threads, RangeTexts* texts);

  /// The text of a range's completed call; 0: nothing was added.
  StringId Of(uint32_t range) const {
    const auto found = completed_.find(range);
    return found == completed_.end() ? 0 : found->second;
  }
  bool empty() const { return completed_.empty(); }

 private:
  struct Lookup {
    int64_t process_id = 0;
    int64_t after = -1;  ///< Number of the last op before it that has one.
    int64_t before = 0;  ///< Number of the first op after it that has one.
    uint32_t range = 0;
  };
  struct Named {
    std::string forward;
    std::string node;
  };

  const Named& NamesOf(StringId name);
  void FindLookups(const ThreadRanges& threads);
  void Link(uint32_t node, const std::string& function);
  StringId Intern(const std::string& text);

  Trace& trace_;
  RangeTexts& texts_;
  std::unordered_map<StringId, Named> names_;
  std::vector<Lookup> lookups_;  // By process and `after`.
  std::vector<uint32_t> nodes_;
  std::unordered_map<uint32_t, StringId> completed_;  // By range.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_LOOKUP_CALLS_H_
