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

/// The kernel breakdown with memory kernels: per rank and class the names with most time, the rest
/// as one row "others".
///
/// A class with more than 10 names keeps those of the top 10 whose running sum is at most the 0.8
/// quantile of the running sums of all names. If it has "others", all of its rows' figures are over
/// the sums per name, not over kernels: the maximum and the mean of a name are its sum.
std::unique_ptr<Partial> MakeHtaKernels(const ViewOptions& options);

/// The kernel type breakdown, in ns, shares with one digit. `by` takes rank; other words throw
/// UsageError.
std::unique_ptr<Partial> MakeHtaKernelTypes(const ViewOptions& options);

/// The temporal breakdown and the overlap of computation and communication, shares with two digits.
/// `by` takes rank, by which rows are split anyway; other words throw UsageError.
std::unique_ptr<Partial> MakeHtaTemporal(const ViewOptions& options);

// The idle time breakdown, the launch statistics, and the summaries of queue lengths and of memory
// bandwidth. Any word of `by` throws UsageError.

std::unique_ptr<Partial> MakeHtaIdle(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaLaunches(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaQueue(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaBandwidth(const ViewOptions& options);

/// The critical path, its summary and its edges: docs/views_critical_path.md. Throws UsageError if
/// ViewOptions::what_if requests what these rules do not have.
std::unique_ptr<Partial> MakeHtaCriticalPath(const ViewOptions& options);

inline constexpr TraceNeeds kHtaCriticalPathNeeds = {TracePart::kTorchEvents, TracePart::kApiCalls,
                                                     TracePart::kWaitEvents};

/// One edge of the critical path by the rules of HolisticTraceAnalysis 0.6.0.
struct HtaPathEdge {
  std::string name;  ///< Short; "" for a dependency.
  int64_t time_us = 0;
  std::string_view type;      ///< "critical_path_operator", ...
  int64_t stream = -1;        ///< Of work; -1: the host, or a dependency.
  std::string_view bound_by;  ///< "cpu_bound", ...; "" for a dependency.

  friend auto operator<=>(const HtaPathEdge&, const HtaPathEdge&) = default;
};

/// The edges of the critical path within the `instance`-th (from 0) annotation whose name contains
/// `annotation`, in the order of the file; "": the whole trace. Empty without such an instance, if
/// the reference would refuse the graph (a wait within one stream, or a cycle), or if the trace is
/// not from PyTorch's profiler. Of several longest paths, the one that networkx 2.8.8 takes.
std::vector<HtaPathEdge> HtaCriticalPath(const Trace& trace, std::string_view annotation,
                                         size_t instance);

inline constexpr std::string_view kHtaDiffTables[] = {"names"};
inline constexpr std::string_view kHtaDiffKeys[] = {"device", "short_name"};

/// What TraceDiff of HolisticTraceAnalysis 0.6.0 compares: by rank, step, device ("cpu", "gpu") and
/// name the number of events and their time, in whole microseconds as in HtaEvent. Not a view of
/// --view: `prof --diff --compat hta` joins two of it.
///
/// Host events belong to the step in which they begin (of overlapping steps the last in the file),
/// stream events to the step of the call with their correlation id (the last in the file). Work on
/// stream 0 has no step. Host calls of Triton kernels count as work of the stream that they name.
const View& HtaDiffNamesView();

/// TraceDiff of HolisticTraceAnalysis 0.6.0 with its defaults: the first step of the first rank of
/// each side, one row per name with counts and total durations (0 if it did not run), largest
/// increase in time first. A column says which list of ops_diff a name is in. `by`: "device"
/// separates host and GPU, which the reference does on request; "short_name" joins names by
/// HtaShortName. Both sides are rows of HtaDiffNamesView.
std::unique_ptr<OtherDiff> MakeHtaDiff(const DiffInput& base, const DiffInput& now,
                                       const std::vector<std::string>& by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_VIEWS_H_
