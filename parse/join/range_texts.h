#ifndef OPLENS_PARSE_JOIN_RANGE_TEXTS_H_
#define OPLENS_PARSE_JOIN_RANGE_TEXTS_H_

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "parse/model/marker_text.h"
#include "parse/model/reason.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What the range texts of a trace say. Every distinct text is classified once, however many ranges
/// bear it; 56 bytes a text.
class RangeTexts {
 public:
  struct Text {
    int64_t seq = -1;    ///< The sequence number: of kSeq, of kOp and kNode where they tell it.
    int64_t thread = 0;  ///< kOp: the thread that the marker tells. kNode: that of the forward op.
    int64_t handle = 0;  ///< kOp: the call that the marker tells. kNode: that of the forward op.
    StringId op = 0;     ///< kOp: op. kSeq: the name, or what PyProf makes of a backward node's.
                         ///< kLayer: the layer's name. kNode: the node's.
    StringId mod = 0;    ///< kOp
    StringId open_text = 0;  ///< What a range path shows for an unclosed range of this text.
    /// kSeq, kOperator: the text of the call whose sizes stand in the text. It is classified too.
    /// 0: none.
    StringId call = 0;
    uint32_t name_length = 0;  ///< kSeq: bytes of NAME, which begins the text.
    uint32_t frames = 0;       ///< kTrace: index for FramesOf.
    MarkerKind kind = MarkerKind::kFree;
    char direction = 0;     ///< kOp: one of markers::Direction, where the marker tells it.
    bool backward = false;  ///< kSeq, kOperator: makes its kernels backward.
    bool backward_node =
        false;                ///< kSeq: op is that of a backward node, and goes before other names.
    bool names_only = false;  ///< `call` has no arguments.
    bool known = false;
  };

  /// Both must outlive this object. Texts that are interned for display are added to `strings`.
  RangeTexts(StringPool* strings, Diagnostics* diagnostics);

  /// Classifies what the ranges of a trace say, in their order.
  void ClassifyAll(const Trace& trace);
  /// Classifies a text, or answers what is known of it.
  const Text& Classify(StringId id);
  /// A text that was classified before.
  const Text& Of(StringId id) const { return texts_[id]; }
  /// The call stack of a kTrace text, outermost frame first.
  const std::vector<std::string_view>& FramesOf(const Text& text) const {
    return traces_[text.frames].frames;
  }
  /// Whether a Python frame of the trace is in the user's code: not in the framework, not built in.
  bool IsUserFrame(StringId id) const { return id < user_frames_.size() && user_frames_[id]; }
  /// Prepares open_text.
  void MarkOpen(StringId id);

 private:
  Text& Slot(StringId id);
  void NoteFrame(StringId id);
  /// Adds the canonical text of the call that the text of an operator's range describes.
  void AddCall(const MarkerText& marker, Text* text);

  StringPool& strings_;
  Diagnostics& diagnostics_;
  std::vector<Text> texts_;        // By StringId.
  std::vector<bool> frames_seen_;  // By StringId.
  std::vector<bool> user_frames_;  // The same.
  std::deque<MarkerText> traces_;  // Their frames may point into their own storage.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_RANGE_TEXTS_H_
