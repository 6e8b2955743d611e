#ifndef OPLENS_PROF_VIEWS_HTA_KERNELS_H_
#define OPLENS_PROF_VIEWS_HTA_KERNELS_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// The kernel breakdown of HolisticTraceAnalysis 0.6.0 with its defaults and memory kernels: of
/// each rank and class the names with most time, the others as one row "others". What
/// `--view groups --compat hta` prints; ours is `groups`.
///
/// Of a class with more than 10 names stay those of the 10 with most time whose running sum is at
/// most the 0.8 quantile of the running sums of all names. As soon as there are "others", its
/// figures and those of all rows beside it are over the sums of the names, not over the kernels:
/// the maximum and the mean of a name are its sum.
inline constexpr TraceNeeds kHtaKernelsNeeds = {};
std::span<const Field> HtaKernelsFields();
std::unique_ptr<Partial> MakeHtaKernels(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_HTA_KERNELS_H_
