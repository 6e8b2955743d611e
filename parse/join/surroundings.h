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
/// The most ranges of all lists: kOps may have one that is an op in all but form.
inline constexpr size_t kMaxAround =
    5 * (kMaxOutermost + kMaxInnermost) + 1 + kMaxRangePath + kMaxFrames;

/// Ranges around a call that its lists omit.
struct Omitted {
  uint32_t paths = 0;   ///< Free texts beyond kMaxRangePath.
  uint32_t layers = 0;  ///< In between.
  uint32_t ops = 0;     ///< In between.

  bool any() const { return paths > 0 || layers > 0 || ops > 0; }
};

/// The ranges around a call of a host thread. Calls with the same ranges share one.
struct Surroundings {
  uint32_t first = 0;  ///< Of the first list in SurroundingLists::ranges.
  /// From there, where each list begins, and the end of the last one.
  std::array<uint8_t, kAroundCount + 1> bounds{};
  static_assert(kMaxAround <= UINT8_MAX);
  /// kBackward: of the innermost node. kGradient, kAccumulate: the forward op of the engine's node.
  NodeRun forward;
  uint32_t stack = OpenRanges::kNone;  ///< The innermost range with a recorded call stack.
  uint32_t callers = 0;  ///< The call's question to BackwardCallers; 0: no thread waits.
  Phase phase = Phase::kUnknown;
  bool backward : 1 = false;    ///< A node or its number says so.
  bool vocabulary : 1 = false;  ///< kOps holds one range, which is an op in all but form.
  bool omits : 1 = false;       ///< SurroundingLists::OmittedBy tells what.
  // Missing around the call.
  bool nothing : 1 = false;     ///< No range at all.
  bool only_leaks : 1 = false;  ///< Only leaked ranges.
  bool open_range : 1 = false;  ///< A listed range was never closed.

  /// The node that the call is in.
  NodeRun node() const { return phase == Phase::kBackward ? forward : NodeRun(); }
  /// For the engine's own work: the forward op of its node, 0 if unknown.
  uint32_t served() const {
    return phase == Phase::kGradient || phase == Phase::kAccumulate ? forward.node : 0;
  }
};
// Many traces have one per kernel.
static_assert(sizeof(Surroundings) == 32);

struct SurroundingLists {
  static constexpr uint32_t kNone = UINT32_MAX;  ///< No index.

  std::vector<Surroundings> all;
  /// Indices into Trace::ranges: the lists of each, then, if it omits ranges, their numbers.
  std::vector<uint32_t> ranges;

  std::span<const uint32_t> Of(const Surroundings& around, Around list) const {
    const auto i = static_cast<size_t>(list);
    return {ranges.data() + around.first + around.bounds[i],
            size_t{around.bounds[i + 1]} - around.bounds[i]};
  }
  Omitted OmittedBy(const Surroundings& around) const {
    if (!around.omits) return {};
    const uint32_t* numbers = ranges.data() + around.first + around.bounds.back();
    return {numbers[0], numbers[1], numbers[2]};
  }
  /// Those omitted by the surroundings whose lists are the last.
  void AddOmitted(const Omitted& omitted) {
    ranges.insert(ranges.end(), {omitted.paths, omitted.layers, omitted.ops});
  }
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_SURROUNDINGS_H_
