#ifndef OPLENS_PROF_PATH_EDGE_SPLITTER_H_
#define OPLENS_PROF_PATH_EDGE_SPLITTER_H_

#include <algorithm>
#include <cstdint>

#include "base/saturating.h"
#include "parse/model/trace.h"
#include "prof/path/host_pieces.h"
#include "prof/path/moment_graph.h"
#include "prof/path/path_edge.h"
#include "prof/path/step_graph.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"

namespace oplens::prof {

/// Splits edges of a graph by what their time is spent in.
class EdgeSplitter {
 public:
  /// Both must outlive this object.
  EdgeSplitter(const Run& run, const StepGraph& steps)
      : run_(run),
        trace_(run.trace()),
        steps_(steps),
        pieces_(run.joined(), steps.moments().calls()) {}

  /// Calls f(edge of the path) for each part of an edge that leads to `to`, in order. Precondition:
  /// edges of a thread come in order of time.
  template <typename F>
  void Split(const MomentGraph::Edge& edge, uint32_t to, F f) {
    const uint32_t event = steps_.EventOf(to);
    if (event != StepGraph::kNone) return SplitWork(edge, to, event, f);
    const int64_t start_ns = steps_.TimeOf(edge.from);
    const int64_t end_ns = SaturatingSum(start_ns, edge.weight_ns);
    switch (edge.link) {
      case PathLink::kHost:
        return SplitHost(steps_.ThreadOf(to), start_ns, end_ns, edge.link, f);
      case PathLink::kHostWait: {
        PathEdge part = {start_ns, edge.weight_ns, WaitOf(to)};
        part.thread = steps_.ThreadOf(to);
        part.link = edge.link;
        part.cause = PathCause::kSyncWait;
        if (part.time_ns > 0) f(part);
        return;
      }
      case PathLink::kEnd:
        return SplitEnd(edge, start_ns, end_ns, f);
      default:
        return;  // Without time.
    }
  }

 private:
  PathSubject WaitOf(uint32_t node) const {
    const HostMoment& moment = *steps_.MomentOf(node);
    const LaunchIndex call =
        moment.kind == HostMoment::Kind::kWait
            ? steps_.moments().wait(moment.item).call
            : run_.device_work().LaunchOf(run_.device_work().events()[moment.item]);
    return {PathSubject::Kind::kCall, call};
  }

  template <typename F>
  void SplitHost(ThreadIndex thread, int64_t start_ns, int64_t end_ns, PathLink link, F f) {
    pieces_.Split(thread, start_ns, end_ns, [&](const HostPieces::Piece& piece) {
      PathEdge part = {piece.start_ns, LengthOf({piece.start_ns, piece.end_ns}), piece.subject};
      part.thread = thread;
      part.link = link;
      part.cause = piece.cause;
      f(part);
    });
  }

  template <typename F>
  void SplitEnd(const MomentGraph::Edge& edge, int64_t start_ns, int64_t end_ns, F f) {
    const ThreadIndex main = steps_.main_thread();
    const bool host = main != kNoThread && (edge.from == 0 || steps_.ThreadOf(edge.from) == main) &&
                      steps_.EventOf(edge.from) == StepGraph::kNone;
    if (host) {
      const int64_t until_ns = std::min(end_ns, steps_.main_end_ns());
      SplitHost(main, start_ns, until_ns, edge.link, f);
      start_ns = std::max(start_ns, until_ns);
    }
    if (start_ns >= end_ns) return;
    PathEdge part = {start_ns, LengthOf({start_ns, end_ns}), {}};
    part.link = edge.link;
    f(part);
  }

  template <typename F>
  void SplitWork(const MomentGraph::Edge& edge, uint32_t to, uint32_t event, F f) {
    const DeviceEvent& work = run_.device_work().events()[event];
    PathEdge part;
    part.device_id = work.device_id;
    part.stream_id = work.stream_id;
    part.subject = {PathSubject::Kind::kWork, event};
    const int64_t start_ns = steps_.StartOf(to);
    const int64_t work_ns = std::min(edge.weight_ns, LengthOf({start_ns, steps_.TimeOf(to)}));
    // Work that overlapped the previous one gets the rest of its time.
    const int64_t end_ns = steps_.TimeOf(to);
    const int64_t gap_ns = edge.weight_ns - work_ns;
    if (gap_ns > 0) SplitGap(edge, SaturatingDifference(start_ns, gap_ns), start_ns, work, part, f);
    if (work_ns == 0) return;
    part.start_ns = SaturatingDifference(end_ns, work_ns);
    part.time_ns = work_ns;
    part.link = work.work == WorkClass::kCommunication ? PathLink::kCollective : PathLink::kWork;
    part.cause = CauseOf(work.work);
    f(part);
  }

  /// What work waits for before it begins.
  template <typename F>
  void SplitGap(const MomentGraph::Edge& edge, int64_t start_ns, int64_t end_ns,
                const DeviceEvent& work, PathEdge part, F f) {
    const LaunchIndex launch = run_.device_work().LaunchOf(work);
    part.link = edge.link;
    part.start_ns = start_ns;
    if (edge.link == PathLink::kLaunch) {
      const LaunchCall& call = trace_.launches[launch];
      const int64_t returned_ns = std::clamp(call.end_ns, start_ns, end_ns);
      if (returned_ns > start_ns) {
        PathEdge own = part;
        own.time_ns = LengthOf({start_ns, returned_ns});
        own.subject = {PathSubject::Kind::kCall, launch};
        own.thread = call.thread;
        own.device_id = own.stream_id = -1;
        own.cause = PathCause::kApiCall;
        f(own);
      }
      part.start_ns = returned_ns;
      part.cause = PathCause::kLaunchDelay;
    } else if (edge.link == PathLink::kStreamWait || edge.link == PathLink::kGraph) {
      part.cause = launch == kNoLaunch             ? PathCause::kIdle
                   : edge.link == PathLink::kGraph ? PathCause::kQueue
                                                   : PathCause::kSyncWait;
    } else if (edge.link == PathLink::kStream && launch != kNoLaunch) {
      part.cause = PathCause::kQueue;
    }
    part.time_ns = LengthOf({part.start_ns, end_ns});
    if (part.time_ns > 0) f(part);
  }

  static PathCause CauseOf(WorkClass work) {
    switch (work) {
      case WorkClass::kCommunication:
        return PathCause::kCommunication;
      case WorkClass::kCopy:
      case WorkClass::kFill:
        return PathCause::kCopy;
      default:
        return PathCause::kCompute;
    }
  }

  const Run& run_;
  const Trace& trace_;
  const StepGraph& steps_;
  HostPieces pieces_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_EDGE_SPLITTER_H_
