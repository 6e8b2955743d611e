#include "prof/path/host_pieces.h"

#include <algorithm>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/marker_text.h"
#include "prof/run/host_activity.h"

namespace oplens::prof {

HostPieces::HostPieces(const parse::Joined& joined, std::span<const LaunchIndex> calls)
    : joined_(joined),
      trace_(joined.trace()),
      calls_(calls),
      roles_(trace_.strings.size(), Role::kUnasked),
      lanes_(trace_.threads.size()) {
  for (size_t i = 0; i < calls_.size(); ++i) {
    Lane& lane = lanes_[trace_.launches[calls_[i]].thread];
    if (lane.call_end == 0) lane.call = i;
    lane.call_end = i + 1;
  }
  for (size_t thread = 0; thread < lanes_.size(); ++thread) {
    lanes_[thread].range = joined_.threads().BeginOf(thread);
  }
}

HostPieces::Role HostPieces::RoleOf(uint32_t index) {
  const Range& range = trace_.ranges[index];
  if (range.open() || range.kind == RangeKind::kStep || joined_.leaks().Has(index)) {
    return Role::kNone;
  }
  Role& role = roles_[range.text];
  if (role == Role::kUnasked) {
    role = Role::kOther;
    if (IsDataLoaderRange(trace_.strings.View(range.text))) role = Role::kLoader;
    if (range.kind == RangeKind::kMarker) {
      const MarkerKind kind = joined_.texts().Of(range.text).kind;
      // Long texts about the enclosing ranges.
      if (kind == MarkerKind::kTrace || kind == MarkerKind::kRepr) role = Role::kNone;
    }
  }
  if (role == Role::kLoader && range.kind != RangeKind::kFrame) return role;
  return parse::IsHostCall(joined_, index) ? Role::kOp : role;
}

void HostPieces::Begin(ThreadIndex thread, int64_t start_ns) {
  lane_ = &lanes_[thread];
  ranges_end_ = joined_.threads().EndOf(thread);
  MoveTo(start_ns);
}

void HostPieces::MoveTo(int64_t time_ns) {
  Lane& lane = *lane_;
  for (; lane.range < ranges_end_ && trace_.ranges[lane.range].start_ns <= time_ns; ++lane.range) {
    const Range& range = trace_.ranges[lane.range];
    if (range.end_ns <= time_ns) continue;
    const Open open = {range.end_ns, static_cast<uint32_t>(lane.range)};
    switch (RoleOf(open.index)) {
      case Role::kOp:
        lane.ops.push_back(open);
        break;
      case Role::kOther:
        lane.others.push_back(open);
        break;
      case Role::kLoader:
        if (open.end_ns > lane.loader.end_ns) lane.loader = open;
        break;
      default:
        break;
    }
  }
  for (; lane.call < lane.call_end && trace_.launches[calls_[lane.call]].start_ns <= time_ns;
       ++lane.call) {
    const LaunchCall& call = trace_.launches[calls_[lane.call]];
    if (call.end_ns > time_ns) lane.calls.push_back({call.end_ns, calls_[lane.call]});
  }
  for (std::vector<Open>* const list : {&lane.ops, &lane.others, &lane.calls}) {
    while (!list->empty() && list->back().end_ns <= time_ns) list->pop_back();
  }
}

/// From a time to the next one at which something opens, or the innermost ends.
HostPieces::Piece HostPieces::Next(int64_t time_ns, int64_t end_ns) {
  MoveTo(time_ns);
  const Lane& lane = *lane_;
  Piece piece = {time_ns, end_ns, {}, PathCause::kPython};
  const auto take = [&](const Open& open, PathSubject::Kind kind, PathCause cause) {
    piece.subject = {kind, open.index};
    piece.cause = cause;
    piece.end_ns = std::min(piece.end_ns, open.end_ns);
  };
  if (!lane.calls.empty()) {
    take(lane.calls.back(), PathSubject::Kind::kCall, PathCause::kApiCall);
  } else if (lane.loader.end_ns > time_ns) {
    take(lane.loader, PathSubject::Kind::kRange, PathCause::kDataLoader);
  } else if (!lane.ops.empty()) {
    take(lane.ops.back(), PathSubject::Kind::kRange, PathCause::kHostOp);
  } else if (!lane.others.empty()) {
    take(lane.others.back(), PathSubject::Kind::kRange, PathCause::kPython);
  }
  if (lane.range < ranges_end_) {
    piece.end_ns = std::min(piece.end_ns, trace_.ranges[lane.range].start_ns);
  }
  if (lane.call < lane.call_end) {
    piece.end_ns = std::min(piece.end_ns, trace_.launches[calls_[lane.call]].start_ns);
  }
  return piece;
}

}  // namespace oplens::prof
