#ifndef OPLENS_PROF_COMPAT_HTA_VIEWS_H_
#define OPLENS_PROF_COMPAT_HTA_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "prof/diff/compare.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

// Views by the rules of HolisticTraceAnalysis 0.6.0, with its defaults: docs/views.md.

/// The kernel breakdown with memory kernels: of each rank and class the names with most time, the
/// others as one row "others".
///
/// Of a class with more than 10 names stay those of the 10 with most time whose running sum is at
/// most the 0.8 quantile of the running sums of all names. As soon as there are "others", its
/// figures and those of all rows beside it are over the sums of the names, not over the kernels:
/// the maximum and the mean of a name are its sum.
std::unique_ptr<Partial> MakeHtaKernels(const ViewOptions& options);

/// The kernel type breakdown, in ns, shares with one digit. `by` takes rank; UsageError for other
/// words.
std::unique_ptr<Partial> MakeHtaKernelTypes(const ViewOptions& options);

/// The temporal breakdown and the overlap of computation and communication, shares with two digits.
/// `by` takes rank, by which rows are split anyway; UsageError for other words.
std::unique_ptr<Partial> MakeHtaTemporal(const ViewOptions& options);

// The idle time breakdown, the launch statistics, and the summaries of queue lengths and of memory
// bandwidth. UsageError for any word of `by`.

std::unique_ptr<Partial> MakeHtaIdle(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaLaunches(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaQueue(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaBandwidth(const ViewOptions& options);

/// The critical path, its summary and its edges: docs/views_critical_path.md. UsageError where
/// ViewOptions::what_if asks for what these rules do not have.
std::unique_ptr<Partial> MakeHtaCriticalPath(const ViewOptions& options);

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

inline constexpr std::string_view kHtaDiffTables[] = {"names"};
inline constexpr std::string_view kHtaDiffKeys[] = {"device", "short_name"};

/// What TraceDiff of HolisticTraceAnalysis 0.6.0 compares of a run: by rank, step, device ("cpu",
/// "gpu") and name how often something ran and how long, in whole microseconds as HtaEvent has
/// them. Not one of the views of --view: `prof --diff --compat hta` joins two of it.
///
/// The host's events are of the step in which they begin (of overlapping ones the last in the
/// file), those of a stream of that of the call with their correlation id, the last one in the
/// file. Work on stream 0 is of no step. Calls of Python do not count; waits of streams and
/// recorder overhead, which the reference counts too, are not there, nor calls of Triton kernels on
/// the host as the work of a stream that it takes them for.
const View& HtaDiffNamesView();

/// TraceDiff of HolisticTraceAnalysis 0.6.0 with its defaults: the first step of the first rank of
/// each side, a row a name with counts and total durations (0 where it did not run), what grew most
/// in time first. Which list of ops_diff a name is in is a column. `by`: "device" keeps host and
/// GPU apart, which the reference does when asked for one of them; "short_name" joins names by
/// HtaShortName. Both sides are the rows of HtaDiffNamesView.
std::unique_ptr<OtherDiff> MakeHtaDiff(const DiffInput& base, const DiffInput& now,
                                       const std::vector<std::string>& by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_VIEWS_H_
