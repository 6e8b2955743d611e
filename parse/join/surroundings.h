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

/// Listed free-text ranges around a call: the outermost.
inline constexpr size_t kMaxRangePath = 16;
/// Listed frames of a call stack of separate Python functions: the innermost.
inline constexpr size_t kMaxFrames = 64;

/// Listed layers, annotated calls, numbered ops and the like: the outermost, and the innermost,
/// which say most about a kernel. Real programs nest them less than ten deep.
inline constexpr size_t kMaxOutermost = 8;
inline constexpr size_t kMaxInnermost = 24;

/// The lists of ranges around a call, each outermost first.
enum class Around : uint8_t {
  kLayers,
  kReprs,
  kOps,        ///< Annotated calls, except those that only repeat the name of the one around them.
  kSequences,  ///< Distinct ranges with a sequence number, in the order of their texts.
  kPaths,      ///< Free texts, at most kMaxRangePath.
  kFrames,     ///< Python functions of the user, at most kMaxFrames.
  kForwards,   ///< Ops that made a node.
  kCount
};
inline constexpr size_t kAroundCount = static_cast<size_t>(Around::kCount);

/// The ranges around a call of a host thread. Calls with the same ranges share one.
struct Surroundings {
  /// First index of each list in SurroundingLists::ranges, and the end of the last one.
  std::array<uint32_t, kAroundCount + 1> bounds{};
  uint32_t paths_cut = 0;   ///< Free texts beyond kMaxRangePath.
  uint32_t layers_cut = 0;  ///< Layers omitted in between.
  uint32_t ops_cut = 0;     ///< Annotated calls omitted in between.
  /// kBackward: of the innermost node. kGradient, kAccumulate: the forward op of the engine's node.
  NodeRun forward;
  uint32_t stack = OpenRanges::kNone;  ///< The innermost range with a recorded call stack.
  uint32_t callers = 0;  ///< The call's question to BackwardCallers; 0: no thread waits.
  Phase phase = Phase::kUnknown;
  bool backward = false;    ///< A node or its number says so.
  bool vocabulary = false;  ///< kOps holds one range, which is an op in all but form.
  // Missing around the call.
  bool nothing = false;     ///< No range at all.
  bool only_leaks = false;  ///< Only leaked ranges.
  bool open_range = false;  ///< A listed range was never closed.

  /// The node that the call is in.
  NodeRun node() const { return phase == Phase::kBackward ? forward : NodeRun(); }
  /// For the engine's own work: the forward op of its node, 0 if unknown.
  uint32_t served() const {
    return phase == Phase::kGradient || phase == Phase::kAccumulate ? forward.node : 0;
  }
};

struct SurroundingLists {
  static constexpr uint32_t kNone = UINT32_MAX;  ///< No index.

  std::vector<Surroundings> all;
  std::vector<uint32_t> ranges;  ///< Indices into Trace::ranges.

  std::span<const uint32_t> Of(const Surroundings& around, Around list) const {
    const auto i = static_cast<size_t>(list);
    return {ranges.data() + around.bounds[i], around.bounds[i + 1] - around.bounds[i]};
  }
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_SURROUNDINGS_H_
