#ifndef OPLENS_PARSE_JOIN_RANGE_TEXTS_H_
#define OPLENS_PARSE_JOIN_RANGE_TEXTS_H_

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "parse/model/marker_text.h"
#include "parse/model/reason.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The classified range texts of a trace: each distinct text is classified once, however many
/// ranges have it. 24 bytes per text, and as many per annotated op or node.
class RangeTexts {
 public:
  struct Text {
    int64_t seq = -1;  ///< The sequence number: of kSeq, of kOp and kNode where they tell it.
    StringId op = 0;   ///< kOp: op. kSeq: the name, or what PyProf makes of a backward node's.
                       ///< kLayer: the layer's name. kNode: the node's.
    /// kSeq, kOperator: text of the call with the sizes in the text, classified too. 0: none.
    StringId call = 0;
    /// kSeq: bytes of NAME, which begins the text. kOp, kNode, kTrace: place of what MarkOf and
    /// FramesOf tell.
    uint32_t more = 0;
    MarkerKind kind = MarkerKind::kFree;
    char direction = 0;              ///< kOp: one of markers::Direction, if in the marker.
    bool backward : 1 = false;       ///< kSeq, kOperator: makes its kernels backward.
    bool backward_node : 1 = false;  ///< kSeq: op is a backward node's, and precedes other names.
    bool names_only : 1 = false;     ///< `call` has no arguments.
    bool known : 1 = false;

    uint32_t name_length() const { return kind == MarkerKind::kSeq ? more : 0; }
  };
  // Each op of a program that runs for long has a text of its own, with its number.
  static_assert(sizeof(Text) == 24);

  /// What the markers of nvtx_annotate say besides.
  struct Mark {
    int64_t thread = 0;  ///< kOp: thread in the marker. kNode: thread of the forward op.
    int64_t handle = 0;  ///< kOp: call in the marker. kNode: call of the forward op.
    StringId mod = 0;    ///< kOp
  };

  /// Both must outlive this object. Adds texts for display to `strings`.
  RangeTexts(StringPool* strings, Diagnostics* diagnostics);

  /// Those of all ranges; up to ThreadLimit() threads read them.
  void ClassifyAll(const Trace& trace);
  /// Classifies a text unless it is already.
  const Text& Classify(StringId id);
  /// As above if `marker`, of an equal text, is at hand.
  const Text& Classify(StringId id, MarkerText marker);
  const Text& Of(StringId id) const { return texts_[id]; }  ///< `id` must be classified.
  /// Of a kOp or kNode; for others nothing.
  Mark MarkOf(const Text& text) const {
    const bool marked = text.kind == MarkerKind::kOp || text.kind == MarkerKind::kNode;
    return marked ? marks_[text.more] : Mark();
  }
  /// The call stack of a kTrace text, outermost frame first.
  const std::vector<std::string_view>& FramesOf(const Text& text) const {
    return traces_[text.more].frames;
  }
  bool IsUserFrame(StringId id) const { return id < user_frames_.size() && user_frames_[id]; }
  /// Prepares OpenTextOf.
  void MarkOpen(StringId id);
  /// What a range path shows for an unclosed range of this text; 0: not prepared.
  StringId OpenTextOf(StringId id) const {
    const uint32_t shown = open_texts_.Find(id);
    return shown == IdMap::kNone ? 0 : shown;
  }

 private:
  const Text& Add(StringId id, MarkerText marker);
  /// Calls f(text) for those to be classified, in order; equal texts may come again.
  template <typename F>
  void ForEachText(const Trace& trace, F f);
  void ClassifyInThreads(const std::vector<StringId>& ids);
  Text& Slot(StringId id);
  void NoteFrame(StringId id);
  void AddMark(const Mark& mark, Text* text);
  /// Adds the canonical text of the call that an operator's range describes.
  void AddCall(const MarkerText& marker, Text* text);

  StringPool& strings_;
  Diagnostics& diagnostics_;
  std::vector<Text> texts_;  // By StringId.
  std::vector<Mark> marks_;
  IdMap open_texts_;               // By StringId.
  std::vector<bool> frames_seen_;  // By StringId.
  std::vector<bool> user_frames_;  // The same.
  std::deque<MarkerText> traces_;  // Their frames may point into their own storage.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_RANGE_TEXTS_H_
