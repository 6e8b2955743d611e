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

/// The name of each call and where it stands, as texts that views group by. Every list is indexed
/// as CallTree::all() and holds numbers of `texts`.
class CallPlaces {
 public:
  /// Both must outlive this object.
  CallPlaces(const parse::Joined& joined, const parse::CallTree& calls)
      : joined_(joined), trace_(joined.trace()), calls_(calls), forwards_(joined, calls) {}

  /// The operator without what the framework appends to it (", seq = 3", sizes).
  std::vector<uint32_t> Names();
  /// Shapes of its tensor arguments: "(32,128,768);(3072,768)".
  std::vector<uint32_t> Shapes();
  /// Enclosing layers, outermost first, joined by ":"; in the backward pass, if none encloses the
  /// call, those of its node's forward op.
  std::vector<uint32_t> Layers();
  /// Call stack, outermost frame first, joined by ",": the enclosing Python calls of the user,
  /// otherwise the stack recorded with the call.
  std::vector<uint32_t> Stacks();
  /// For backward nodes and the calls in them: index of the forward op's call, kUnknownForward if
  /// unknown. CallTree::kNone for all other calls.
  std::vector<uint32_t> ForwardPlaces();
  static constexpr uint32_t kUnknownForward = parse::CallTree::kNone - 1;
  /// PhaseWord of docs/correlation.md, "Phases".
  std::vector<uint32_t> Phases();

  const TextNumbers& texts() const { return texts_; }

 private:
  /// Calls f(call) for each call in order, with the open ranges of its thread that enclose its
  /// start, itself included. Only ranges to which `lane_of` gives a lane are kept; a result of
  /// kMaxLanes means none.
  template <typename LaneOf, typename Visit>
  void Sweep(LaneOf lane_of, Visit visit);
  uint32_t ShapesOf(StringId call);
  uint32_t JoinTexts(char separator);
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
  std::vector<std::string_view> parts_;  // Of the current text.
  std::string text_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_CALL_PLACES_H_
