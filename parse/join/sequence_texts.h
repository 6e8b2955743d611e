#ifndef OPLENS_PARSE_JOIN_SEQUENCE_TEXTS_H_
#define OPLENS_PARSE_JOIN_SEQUENCE_TEXTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/marker_text.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What the text of a range with a sequence number says.
struct SequenceText {
  std::string_view text;  ///< "NAME, seq = N"
  int64_t seq = -1;
  size_t name_length = 0;
  bool backward = false;  ///< NAME is a node of the backward pass.

  std::string_view name() const { return text.substr(0, name_length); }
};

/// Sequence texts of operators that the trace does not have yet: each of several threads makes
/// those that it needs, and OpCalls::Take() adds them to the trace.
class SequenceTexts {
 public:
  struct Made {
    ItemIndex item = kNoItem;  ///< Of the operator.
    std::string text;
    MarkerText marker;  ///< Its views may point into `text`.
  };

  /// `trace` must outlive this object.
  explicit SequenceTexts(const Trace& trace) : trace_(trace) {}

  /// The text of an operator's range; views into it live until Clear().
  SequenceText Of(const Range& range);

  size_t size() const { return items_.size(); }
  Made& operator[](size_t i) { return all_[i]; }
  void Clear() { items_.clear(); }

 private:
  const Trace& trace_;
  // In order of need; one that is needed again may be there twice. Behind them some to be used
  // again.
  std::deque<Made> all_;
  std::vector<ItemIndex> items_;  // Of the former.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_SEQUENCE_TEXTS_H_
