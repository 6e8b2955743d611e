#include "parse/join/range_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/team.h"
#include "base/threads.h"
#include "parse/model/op_call.h"
#include "parse/model/sized_call.h"

namespace oplens::parse {
namespace {

/// PyProf reads the op only from backward names without a number ("MmBackward", "relu_backward").
bool IsPlainBackwardNode(std::string_view name) {
  return name.ends_with("Backward") || name.ends_with("backward");
}

/// Returns the op that PyProf reads from the name of a backward node: "MmBackward" -> "Mm",
/// "torch::autograd::NllLossBackward" -> "NllLoss", "nll_loss_backward" -> "nll_loss".
std::string OpOfBackwardNode(std::string_view name) {
  std::string op(name);
  for (const std::string_view part :
       {"torch", "autograd", "_backward", "::", "jit", "(anonymous namespace)"}) {
    for (size_t at = op.find(part); at != std::string::npos; at = op.find(part, at)) {
      op.erase(at, part.size());
    }
  }
  return op.substr(0, op.find("Backward"));
}

/// Texts that are read while those before them are added, and those that a thread takes at once.
constexpr size_t kTextsAtOnce = 4096;
constexpr size_t kTextsOfPiece = 256;

std::string_view Shortened(std::string_view text) { return text.substr(0, 60); }

}  // namespace

RangeTexts::RangeTexts(StringPool* strings, Diagnostics* diagnostics)
    : strings_(*strings), diagnostics_(*diagnostics) {
  texts_.reserve(strings->size());
}

RangeTexts::Text& RangeTexts::Slot(StringId id) {
  if (id >= texts_.size()) texts_.resize(std::max<size_t>(strings_.size(), size_t{id} + 1));
  return texts_[id];
}

void RangeTexts::AddCall(const MarkerText& marker, Text* text) {
  const std::optional<OpCall> call = CallOfRange(marker);
  if (!call) return;
  std::string canonical;
  AppendOpCall(*call, &canonical);
  text->call = strings_.Intern(canonical);
  text->names_only = call->args.empty();
  Classify(text->call);
}

void RangeTexts::AddMark(const Mark& mark, Text* text) {
  text->more = static_cast<uint32_t>(marks_.size());
  marks_.push_back(mark);
}

const RangeTexts::Text& RangeTexts::Classify(StringId id) {
  if (id < texts_.size() && texts_[id].known) return texts_[id];
  return Add(id, ClassifyMarker(strings_.View(id)));
}

const RangeTexts::Text& RangeTexts::Classify(StringId id, MarkerText marker) {
  if (id < texts_.size() && texts_[id].known) return texts_[id];
  // Of a trace, views of the text are kept.
  if (marker.kind == MarkerKind::kTrace) return Classify(id);
  return Add(id, std::move(marker));
}

const RangeTexts::Text& RangeTexts::Add(StringId id, MarkerText marker) {
  Text text;
  text.known = true;
  text.kind = marker.kind;
  text.backward = marker.backward;
  text.seq = marker.seq;
  switch (marker.kind) {
    case MarkerKind::kOp:
      text.op = strings_.Intern(marker.op);
      AddMark({marker.thread, marker.handle, strings_.Intern(marker.mod)}, &text);
      text.direction = marker.direction;
      break;
    case MarkerKind::kNode:
      text.op = strings_.Intern(marker.name);
      AddMark({marker.forward_thread, marker.forward_handle, 0}, &text);
      break;
    case MarkerKind::kSeq:
      text.more = static_cast<uint32_t>(marker.name.size());
      text.backward_node = IsPlainBackwardNode(marker.name);
      text.op = text.backward_node ? strings_.Intern(OpOfBackwardNode(marker.name))
                                   : strings_.Intern(marker.name);
      AddCall(marker, &text);
      break;
    case MarkerKind::kOperator:
      AddCall(marker, &text);
      break;
    case MarkerKind::kLayer:
      text.op = strings_.Intern(marker.name);
      break;
    case MarkerKind::kTrace:
      text.more = static_cast<uint32_t>(traces_.size());
      traces_.push_back(std::move(marker));
      break;
    case MarkerKind::kFree:
      if (marker.damaged) {
        diagnostics_.Count(Reason::kBadMarkerText,
                           fmt::format("\"{}\"", Shortened(strings_.View(id))));
      }
      break;
    case MarkerKind::kRepr:
    case MarkerKind::kIgnored:
      break;
  }
  return Slot(id) = text;
}

template <typename F>
void RangeTexts::ForEachText(const Trace& trace, F f) {
  for (const Range& range : trace.ranges) {
    if (range.kind == RangeKind::kMarker) {
      f(range.text);
    } else if (range.kind == RangeKind::kFrame) {
      NoteFrame(range.text);
    } else if (const Operator* op = trace.OperatorOf(range)) {
      if (op->call != 0) f(op->call);
      if (op->stack != 0) f(op->stack);
    }
  }
}

void RangeTexts::ClassifyAll(const Trace& trace) {
  if (ThreadLimit() < 2 || trace.ranges.size() < kTextsAtOnce) {
    return ForEachText(trace, [this](StringId id) { Classify(id); });
  }
  std::vector<bool> met(strings_.size(), false);
  std::vector<StringId> ids;
  ForEachText(trace, [&](StringId id) {
    if (met[id]) return;
    met[id] = true;
    ids.push_back(id);
  });
  ClassifyInThreads(ids);
}

/// Threads read texts while those before them are added, in their order.
void RangeTexts::ClassifyInThreads(const std::vector<StringId>& ids) {
  struct Batch {
    size_t begin = 0;
    std::vector<std::string_view> views;
    std::vector<MarkerText> markers;
  };
  Batch batch;
  Batch next;
  const auto fill = [&](size_t begin, Batch* some) {
    some->begin = begin;
    some->views.clear();
    for (size_t i = begin; i < std::min(ids.size(), begin + kTextsAtOnce); ++i) {
      some->views.push_back(strings_.View(ids[i]));
    }
    some->markers.resize(some->views.size());
  };
  const auto pieces = [](const Batch& some) {
    return (some.views.size() + kTextsOfPiece - 1) / kTextsOfPiece;
  };
  const auto read = [](Batch* some, size_t piece) {
    const size_t end = std::min(some->views.size(), (piece + 1) * kTextsOfPiece);
    for (size_t i = piece * kTextsOfPiece; i < end; ++i) {
      some->markers[i] = ClassifyMarker(some->views[i]);
    }
  };
  Team team(static_cast<size_t>(ThreadLimit() - 1));
  fill(0, &batch);
  team.Each(pieces(batch), [&](size_t piece) { read(&batch, piece); });
  while (!batch.views.empty()) {
    fill(batch.begin + batch.views.size(), &next);
    team.Begin(pieces(next), [&](size_t piece) { read(&next, piece); });
    for (size_t i = 0; i < batch.views.size(); ++i) {
      Classify(ids[batch.begin + i], std::move(batch.markers[i]));
    }
    team.Join();
    std::swap(batch, next);
  }
}

void RangeTexts::NoteFrame(StringId id) {
  if (id >= frames_seen_.size()) {
    frames_seen_.resize(std::max<size_t>(strings_.size(), size_t{id} + 1), false);
    user_frames_.resize(frames_seen_.size(), false);
  }
  if (frames_seen_[id]) return;
  frames_seen_[id] = true;
  const std::string_view frame = strings_.View(id);
  user_frames_[id] = !frame.starts_with('<') && !IsTorchFrame(frame);
}

void RangeTexts::MarkOpen(StringId id) {
  if (OpenTextOf(id) != 0) return;
  const Text& text = Classify(id);
  std::string shown;
  if (text.kind == MarkerKind::kOp) {
    shown = fmt::format("{}.{} [open]", strings_.View(MarkOf(text).mod), strings_.View(text.op));
  } else {
    shown = fmt::format("{} [open]", strings_.View(id));
  }
  open_texts_.FindOrInsert(id, strings_.Intern(shown));
}

}  // namespace oplens::parse
