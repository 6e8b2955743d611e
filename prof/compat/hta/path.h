#ifndef OPLENS_PROF_COMPAT_HTA_PATH_H_
#define OPLENS_PROF_COMPAT_HTA_PATH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"

namespace oplens::prof {

/// What a trace must hold for it.
inline constexpr TraceNeeds kHtaCriticalPathNeeds = {TracePart::kTorchEvents, TracePart::kApiCalls,
                                                     TracePart::kWaitEvents};

/// One edge of the critical path by the rules of HolisticTraceAnalysis 0.6.0.
struct HtaPathEdge {
  std::string name;  ///< Short; "" of a dependency.
  int64_t time_us = 0;
  std::string_view type;      ///< "critical_path_operator", ...
  int64_t stream = -1;        ///< Of work; -1: of the host, or of a dependency.
  std::string_view bound_by;  ///< "cpu_bound", ...; "" of a dependency.

  friend auto operator<=>(const HtaPathEdge&, const HtaPathEdge&) = default;
};

/// The critical path within an instance (from 0) of an annotation, of all events whose name holds
/// this text in the order of the file; "": of the whole trace. Edges in their order. Empty where
/// there is no such instance, or the reference would refuse its graph: because of a wait within one
/// stream or of a cycle. Of several longest paths that which networkx 2.8.8 takes.
///
/// Only traces of PyTorch's profiler have one.
std::vector<HtaPathEdge> HtaCriticalPath(const Trace& trace, std::string_view annotation,
                                         size_t instance);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_PATH_H_
