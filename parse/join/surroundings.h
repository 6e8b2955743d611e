#ifndef OPLENS_PARSE_JOIN_SURROUNDINGS_H_
#define OPLENS_PARSE_JOIN_SURROUNDINGS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/join/node_run.h"
#include "parse/join/range_sweep.h"
#include "parse/model/phase.h"

namespace oplens::parse {

/// How many free-text ranges around a call are listed: the outermost.
inline constexpr size_t kMaxRangePath = 16;
/// How many frames of a call stack of separate Python functions are listed: the innermost.
inline constexpr size_t kMaxFrames = 64;

/// Of layers, annotated calls, numbered ops and the like so many are listed: the outermost, and the
/// innermost, which tell what a kernel is of. Real programs nest them less than ten deep.
inline constexpr size_t kMaxOutermost = 8;
inline constexpr size_t kMaxInnermost = 24;

/// The lists of ranges around a call, each outermost first.
enum class Around : uint8_t {
  kLayers,
  kReprs,
  kOps,        ///< Annotated calls, without those that only name the one around them again.
  kSequences,  ///< Ranges with a sequence number: in the order of their texts, each once.
  kPaths,      ///< Free texts, at most kMaxRangePath.
  kFrames,     ///< Python functions of the user, at most kMaxFrames.
  kForwards,   ///< Ops that made a node.
  kCount
};
inline constexpr size_t kAroundCount = static_cast<size_t>(Around::kCount);

/// What is around a call of a host thread. Calls with the same ranges around them share one.
struct Surroundings {
  /// Where each list begins in SurroundingLists::ranges, and where the last one ends.
  std::array<uint32_t, kAroundCount + 1> bounds{};
  uint32_t paths_cut = 0;   ///< Free texts beyond kMaxRangePath.
  uint32_t layers_cut = 0;  ///< Layers between those listed.
  uint32_t ops_cut = 0;     ///< Annotated calls between those listed.
  /// kBackward: of the innermost node. kGradient, kAccumulate: the forward op of the node that the
  /// engine works for.
  NodeRun forward;
  uint32_t stack = OpenRanges::kNone;  ///< The innermost range that a call stack was recorded with.
  uint32_t callers = 0;  ///< Which of BackwardCallers' questions is the call's; 0: none waits.
  Phase phase = Phase::kUnknown;
  bool backward = false;  ///< A node or its number says so.
  // What is missing around the call.
  bool nothing = false;     ///< There is no range at all.
  bool only_leaks = false;  ///< Nothing but leaked ones.
  bool open_range = false;  ///< One of those in the lists was never closed.

  /// The node that the call is in.
  NodeRun node() const { return phase == Phase::kBackward ? forward : NodeRun(); }
  /// Of the engine's own work: the forward op of the node that it is for, 0 when it is not known.
  uint32_t served() const {
    return phase == Phase::kGradient || phase == Phase::kAccumulate ? forward.node : 0;
  }
};

/// Surroundings, by index, with the ranges in their lists.
struct SurroundingLists {
  static constexpr uint32_t kNone = UINT32_MAX;  ///< Stands for no index.

  std::vector<Surroundings> all;
  std::vector<uint32_t> ranges;  ///< Numbers of ranges.

  std::span<const uint32_t> Of(const Surroundings& around, Around list) const {
    const auto i = static_cast<size_t>(list);
    return {ranges.data() + around.bounds[i], around.bounds[i + 1] - around.bounds[i]};
  }
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_SURROUNDINGS_H_
