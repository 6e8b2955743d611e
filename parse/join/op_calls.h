#ifndef OPLENS_PARSE_JOIN_OP_CALLS_H_
#define OPLENS_PARSE_JOIN_OP_CALLS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "parse/join/forward_backward.h"
#include "parse/join/inner_facts.h"
#include "parse/join/lookup_calls.h"
#include "parse/join/range_texts.h"
#include "parse/join/sequence_texts.h"
#include "parse/join/vocabulary_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The call of each op as a canonical text (AppendOpCall), completed by its gradient functions
/// (gradient_hints.h, lookup_calls.h) and the calls inside it (inner_facts.h), and its sequence
/// range as a text like PyTorch's.
class OpCalls {
 public:
  /// All must outlive this object. Adds completed calls to the trace's strings and to `texts`.
  OpCalls(Trace* trace, const ThreadRanges& threads, const ForwardBackward& links,
          const VocabularyRanges& vocabulary, RangeTexts* texts);

  /// The text of the call of a range that is one.
  StringId CallOf(uint32_t range) const;
  /// "NAME, seq = N" for a range with a sequence number; 0 for operators until Take().
  StringId SequenceTextOf(uint32_t range) const;
  /// What it says; made in `made` for an operator that has none yet.
  SequenceText ReadSequence(uint32_t range, SequenceTexts* made) const;
  /// Adds the texts that were made for operators, and clears them.
  void Take(SequenceTexts* made);
  StringId StackOf(uint32_t range) const;

  const RangeTexts::Text& OpOf(uint32_t range) const { return texts_.Of(CallOf(range)); }
  StringId ModOf(uint32_t range) const { return texts_.MarkOf(OpOf(range)).mod; }
  const RangeTexts::Text& SequenceOf(uint32_t range) const {
    return texts_.Of(SequenceTextOf(range));
  }

 private:
  /// Completes the calls of forward ops by the gradient functions in their nodes.
  void CompleteByNode();
  /// Likewise if no number links them.
  void CompleteBySize();
  /// Adds a missing number of ranks to calls of collectives.
  void CompleteByRanks();
  StringId Intern(const std::string& text);

  Trace& trace_;
  const ForwardBackward& links_;
  const VocabularyRanges& vocabulary_;
  RangeTexts& texts_;
  std::vector<StringId> completed_;  // By number of the forward op; 0: as recorded. Empty: all are.
  std::unordered_map<StringId, StringId> completed_by_size_;  // By the recorded call.
  InnerFacts inner_;
  LookupCalls lookups_;
  std::vector<StringId> sequence_texts_;  // By index into Trace::operators; 0: not made yet.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_OP_CALLS_H_
