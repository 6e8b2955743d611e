#ifndef OPLENS_PROF_COMPAT_HTA_VIEWS_H_
#define OPLENS_PROF_COMPAT_HTA_VIEWS_H_

#include <memory>

#include "prof/views/view.h"

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

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_VIEWS_H_
