#include <fmt/format.h>

#include "parse/join/call_tree.h"
#include "parse/model/cuda_kinds.h"
#include "parse/model/kernel_names.h"
#include "prof/path/critical_path.h"
#include "prof/run/call_name.h"
#include "prof/run/call_work.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

std::string PathNamesWorkName(const Run& run, const DeviceEvent& event) {
  const Trace& trace = run.trace();
  switch (event.work) {
    case WorkClass::kCopy: {
      const std::string_view kind = CopyKindWord(trace.copies[event.index].copy_kind);
      return kind.empty() ? "Memcpy" : fmt::format("Memcpy {}", kind);
    }
    case WorkClass::kFill:
      return "Memset";
    case WorkClass::kReplay:
      return fmt::format("graph {}", trace.graph_replays[event.index].graph_id);
    default:
      return run.names().Of(trace.kernels[event.index]).full;
  }
}

}  // namespace

std::string PathNameOf(const Run& run, const PathSubject& subject) {
  const Trace& trace = run.trace();
  switch (subject.kind) {
    case PathSubject::Kind::kRange:
      return std::string(parse::IsHostCall(run.joined(), subject.index)
                             ? CallNameOf(run.joined(), subject.index)
                             : trace.strings.View(trace.ranges[subject.index].text));
    case PathSubject::Kind::kCall:
      return std::string(trace.strings.View(trace.launches[subject.index].api));
    case PathSubject::Kind::kWork:
      return PathNamesWorkName(run, run.device_work().events()[subject.index]);
    case PathSubject::Kind::kNothing:
      break;
  }
  return {};
}

uint32_t PathOpOf(const Run& run, const PathSubject& subject) {
  if (subject.kind != PathSubject::Kind::kWork) return kNoItem;
  const uint32_t call = run.call_work().CallOf(run.device_work().events()[subject.index]);
  return call == CallWork::kNone ? kNoItem : run.calls().all()[call].range;
}

int64_t PathNameKeyOf(const Run& run, const PathSubject& subject) {
  constexpr int64_t kKinds = 8;
  const Trace& trace = run.trace();
  const auto kind = static_cast<int64_t>(subject.kind);
  switch (subject.kind) {
    case PathSubject::Kind::kRange: {
      // A marker and an operator may bear the same text.
      const Range& range = trace.ranges[subject.index];
      const bool marker = range.kind == RangeKind::kMarker;
      return int64_t{range.text} * kKinds + (marker ? kKinds - 1 : kind);
    }
    case PathSubject::Kind::kCall:
      return int64_t{trace.launches[subject.index].api} * kKinds + kind;
    case PathSubject::Kind::kWork: {
      const DeviceEvent& event = run.device_work().events()[subject.index];
      if (event.IsKernel()) return int64_t{trace.kernels[event.index].name} * kKinds + kind;
      return int64_t{subject.index} * kKinds + kind + 1;
    }
    case PathSubject::Kind::kNothing:
      break;
  }
  return kind;
}

}  // namespace oplens::prof
