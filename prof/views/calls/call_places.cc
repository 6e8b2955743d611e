#include "prof/views/calls/call_places.h"

#include <algorithm>
#include <map>

#include "ops/tensor.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_sweep.h"
#include "parse/join/step_contexts.h"
#include "parse/join/surroundings.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/op_call.h"
#include "prof/run/call_name.h"
#include "prof/run/gradient_hooks.h"

namespace oplens::prof {
namespace {

using parse::OpenRanges;
using parse::StepContext;

constexpr uint32_t kUnasked = UINT32_MAX;
constexpr size_t kNoLane = OpenRanges::kMaxLanes;

/// The innermost ranges of a lane and the number of their text: most calls share both with the
/// previous call.
struct KnownPath {
  std::vector<uint32_t> ranges;
  uint32_t text = 0;

  /// Takes the open ranges; returns whether they changed.
  bool Change(const OpenRanges& open, size_t lane, size_t most) {
    now_.clear();
    size_t skip = open.CountOf(lane) - std::min(open.CountOf(lane), most);
    open.ForEach(lane, [&](uint32_t range) {
      if (skip > 0) {
        --skip;
      } else {
        now_.push_back(range);
      }
      return true;
    });
    if (now_ == ranges) return false;
    ranges.swap(now_);
    return true;
  }

 private:
  std::vector<uint32_t> now_;
};

}  // namespace

template <typename LaneOf, typename Visit>
void CallPlaces::Sweep(LaneOf lane_of, Visit visit) {
  OpenRanges open;
  const parse::ThreadRanges& threads = joined_.threads();
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    open.Clear();
    size_t next = threads.BeginOf(thread);
    const size_t first = calls_.BeginOf(static_cast<ThreadIndex>(thread));
    const size_t count = calls_.Of(static_cast<ThreadIndex>(thread)).size();
    for (size_t call = first; call < first + count; ++call) {
      const uint32_t range = calls_.all()[call].range;
      for (; next <= range; ++next) {
        if (joined_.leaks().Has(next)) continue;
        const size_t lane = lane_of(next);
        if (lane == kNoLane) continue;
        open.Push(static_cast<uint32_t>(next), trace_.ranges[next].start_ns,
                  trace_.ranges[next].end_ns, lane);
      }
      const int64_t start_ns = trace_.ranges[range].start_ns;
      open.MoveTo(start_ns, trace_.ranges[range].end_ns > start_ns ? start_ns + 1 : start_ns);
      visit(call, open);
    }
  }
}

uint32_t CallPlaces::JoinTexts(char separator) {
  text_.clear();
  for (const std::string_view part : parts_) {
    if (!text_.empty()) text_.push_back(separator);
    text_ += part;
  }
  return texts_.NumberOf(text_);
}

std::vector<uint32_t> CallPlaces::Names() {
  std::vector<uint32_t> names;
  names.reserve(calls_.all().size());
  // The text determines the name, except that a marker and an operator may share it.
  std::vector<uint32_t> known(2 * trace_.strings.size(), kUnasked);
  for (const parse::CallTree::Call& call : calls_.all()) {
    const Range& range = trace_.ranges[call.range];
    uint32_t& name = known[2 * size_t{range.text} + (range.kind == RangeKind::kMarker ? 1 : 0)];
    if (name == kUnasked) name = texts_.NumberOf(CallNameOf(joined_, call.range));
    names.push_back(name);
  }
  return names;
}

uint32_t CallPlaces::ShapesOf(StringId call) {
  std::string error;
  text_.clear();
  const std::optional<OpCall> parsed = ParseOpCall(trace_.strings.View(call), &error);
  if (!parsed) return 0;
  for (const OpArg& arg : parsed->args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    if (!text_.empty()) text_.push_back(';');
    text_ += ops::TupleText(arg.shape);
  }
  return texts_.NumberOf(text_);
}

std::vector<uint32_t> CallPlaces::Shapes() {
  std::vector<uint32_t> shapes;
  shapes.reserve(calls_.all().size());
  std::vector<uint32_t> known(trace_.strings.size(), kUnasked);
  known[0] = 0;
  for (const parse::CallTree::Call& call : calls_.all()) {
    const StringId text = joined_.calls().CallOf(call.range);
    if (known[text] == kUnasked) known[text] = ShapesOf(text);
    shapes.push_back(known[text]);
  }
  return shapes;
}

uint32_t CallPlaces::LayerTextOf(const std::vector<uint32_t>& path) {
  parts_.clear();
  for (const uint32_t range : path) parts_.push_back(trace_.strings.View(joined_.LayerOf(range)));
  return JoinTexts(':');
}

std::vector<uint32_t> CallPlaces::Layers() {
  enum Lane : size_t { kLayers, kContexts };
  std::vector<uint32_t> layers(calls_.all().size(), 0);
  std::vector<uint32_t> forwards(calls_.all().size(), parse::CallTree::kNone);
  KnownPath known;
  const auto lane_of = [&](size_t range) -> size_t {
    if (IsLayer(joined_, trace_.ranges[range])) return kLayers;
    const bool silent = joined_.contexts().ContextOf(range) == StepContext::kNone;
    return silent ? kNoLane : size_t{kContexts};
  };
  Sweep(lane_of, [&](size_t call, const OpenRanges& open) {
    if (open.CountOf(kLayers) == 0) {
      const uint32_t context = open.Innermost(kContexts);
      const Range& range = trace_.ranges[calls_.all()[call].range];
      if (IsCallOfGradientHooks(joined_, context, range)) return;
      forwards[call] = forwards_.Of(context);
    } else {
      if (known.Change(open, kLayers, SIZE_MAX)) known.text = LayerTextOf(known.ranges);
      layers[call] = known.text;
    }
  });
  for (size_t call = 0; call < layers.size(); ++call) {
    if (forwards[call] != parse::CallTree::kNone) layers[call] = layers[forwards[call]];
  }
  return layers;
}

uint32_t CallPlaces::FrameTextOf(const std::vector<uint32_t>& frames) {
  parts_.clear();
  for (const uint32_t range : frames) {
    parts_.push_back(trace_.strings.View(trace_.ranges[range].text));
  }
  return JoinTexts(',');
}

uint32_t CallPlaces::RecordedTextOf(StringId stack) {
  const auto [at, is_new] = recorded_stacks_.try_emplace(stack, 0);
  if (is_new) {
    parts_ = joined_.texts().FramesOf(joined_.texts().Of(stack));
    at->second = JoinTexts(',');
  }
  return at->second;
}

std::vector<uint32_t> CallPlaces::Stacks() {
  enum Lane : size_t { kFrames, kRecorded };
  std::vector<uint32_t> stacks(calls_.all().size(), 0);
  KnownPath known;
  const auto lane_of = [&](size_t range) -> size_t {
    const Range& one = trace_.ranges[range];
    if (one.kind != RangeKind::kFrame) return StackOf(range) != 0 ? size_t{kRecorded} : kNoLane;
    return !one.open() && joined_.texts().IsUserFrame(one.text) ? size_t{kFrames} : kNoLane;
  };
  Sweep(lane_of, [&](size_t call, const OpenRanges& open) {
    if (open.CountOf(kFrames) > 0) {
      if (known.Change(open, kFrames, parse::kMaxFrames)) known.text = FrameTextOf(known.ranges);
      stacks[call] = known.text;
    } else if (const uint32_t range = open.Innermost(kRecorded); range != OpenRanges::kNone) {
      stacks[call] = RecordedTextOf(StackOf(range));
    }
  });
  return stacks;
}

std::vector<uint32_t> CallPlaces::ForwardPlaces() {
  std::vector<uint32_t> forwards(calls_.all().size(), parse::CallTree::kNone);
  const auto lane_of = [&](size_t range) -> size_t {
    return joined_.contexts().ContextOf(range) == StepContext::kNode ? 0 : kNoLane;
  };
  Sweep(lane_of, [&](size_t call, const OpenRanges& open) {
    const uint32_t node = open.Innermost(0);
    if (node == OpenRanges::kNone) return;
    const uint32_t forward = forwards_.Of(node);
    forwards[call] = forward == parse::CallTree::kNone ? kUnknownForward : forward;
  });
  return forwards;
}

Phase CallPlaces::PhaseOf(size_t call, uint32_t context) const {
  if (context != OpenRanges::kNone) {
    const Phase phase = parse::PhaseOf(joined_.contexts().ContextOf(context));
    if (phase != Phase::kUnknown) return phase;
  }
  // Old files have no range for the engine's work between nodes.
  const ThreadIndex thread = trace_.ThreadOf(trace_.ranges[calls_.all()[call].range]);
  return joined_.contexts().IsEngineThread(thread) ? Phase::kGradient : Phase::kForward;
}

std::vector<uint32_t> CallPlaces::Phases() {
  std::vector<uint32_t> phases(calls_.all().size(), 0);
  const auto lane_of = [&](size_t range) -> size_t {
    return joined_.contexts().ContextOf(range) == StepContext::kNone ? kNoLane : 0;
  };
  std::map<Phase, uint32_t> numbers;
  Sweep(lane_of, [&](size_t call, const OpenRanges& open) {
    const Phase phase = PhaseOf(call, open.Innermost(0));
    const auto [place, is_new] = numbers.try_emplace(phase);
    if (is_new) place->second = texts_.NumberOf(PhaseWord(phase));
    phases[call] = place->second;
  });
  return phases;
}

}  // namespace oplens::prof
