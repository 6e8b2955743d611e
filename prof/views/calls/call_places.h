#ifndef OPLENS_PROF_VIEWS_CALLS_CALL_PLACES_H_
#define OPLENS_PROF_VIEWS_CALLS_CALL_PLACES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/model/phase.h"
#include "prof/run/call_stacks.h"
#include "prof/run/forward_calls.h"
#include "prof/run/text_numbers.h"

namespace oplens::prof {

/// What each call is called and where it stands, as texts: what views group calls by. Every list is
/// by place in CallTree::all(), of numbers of `texts`.
class CallPlaces {
 public:
  /// Both must outlive this object.
  CallPlaces(const parse::Joined& joined, const parse::CallTree& calls)
      : joined_(joined), trace_(joined.trace()), calls_(calls), forwards_(joined, calls) {}

  /// The operator without what the framework adds to it (", seq = 3", sizes).
  std::vector<uint32_t> Names();
  /// Extents of the tensors among its arguments: "(32,128,768);(3072,768)".
  std::vector<uint32_t> Shapes();
  /// Layers around it, outermost first, joined by ":"; in the backward pass, where none is around
  /// it, those of the forward op of its node.
  std::vector<uint32_t> Layers();
  /// Call stack, outermost frame first, joined by ",": the Python calls of the user around it, else
  /// what was recorded with it.
  std::vector<uint32_t> Stacks();
  /// Of a node of the backward pass and the calls in it, the place of the forward op's call;
  /// kUnknownForward where that is not known, and CallTree::kNone of all others.
  std::vector<uint32_t> ForwardPlaces();
  static constexpr uint32_t kUnknownForward = parse::CallTree::kNone - 1;
  /// PhaseWord of docs/correlation.md, "Phases".
  std::vector<uint32_t> Phases();

  const TextNumbers& texts() const { return texts_; }

 private:
  /// Calls f(call) for each call in order, with the ranges of its thread that `lane_of` gives a
  /// lane (less than kMaxLanes; that many: none) open that are around its beginning, itself
  /// included.
  template <typename LaneOf, typename Visit>
  void Sweep(LaneOf lane_of, Visit visit);
  uint32_t ShapesOf(StringId call);
  uint32_t JoinTexts(char separator);
  bool IsLayer(const Range& range) const;
  uint32_t LayerTextOf(const std::vector<uint32_t>& path);
  StringId StackOf(size_t range) const {
    return RecordedStackOf(joined_, static_cast<uint32_t>(range));
  }
  uint32_t FrameTextOf(const std::vector<uint32_t>& frames);
  uint32_t RecordedTextOf(StringId stack);
  Phase PhaseOf(size_t call, uint32_t context) const;

  const parse::Joined& joined_;
  const Trace& trace_;
  const parse::CallTree& calls_;
  ForwardCalls forwards_;
  TextNumbers texts_;
  std::unordered_map<StringId, uint32_t> recorded_stacks_;
  std::vector<std::string_view> parts_;  // Of the text at hand.
  std::string text_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_CALL_PLACES_H_
