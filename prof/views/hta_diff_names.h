#ifndef OPLENS_PROF_VIEWS_HTA_DIFF_NAMES_H_
#define OPLENS_PROF_VIEWS_HTA_DIFF_NAMES_H_

#include <string>
#include <string_view>

#include "prof/views/view.h"

namespace oplens::prof {

/// What TraceDiff of HolisticTraceAnalysis 0.6.0 compares of a run: by rank, step, device ("cpu",
/// "gpu") and name how often something ran and how long, in whole microseconds as HtaEvent has
/// them. Not one of the views of --view: `prof --diff --compat hta` joins two of it
/// (prof/diff/hta_diff.h).
///
/// The host's events are of the step in which they begin (of overlapping ones the last in the
/// file), those of a stream of that of the call with their correlation id, the last one in the
/// file. Work on stream 0 is of no step. Calls of Python do not count; waits of streams and
/// recorder overhead, which the reference counts too, are not there, nor calls of Triton kernels on
/// the host as the work of a stream that it takes them for.
const View& HtaDiffNamesView();

/// The name that the reference prints for a long one: without arguments, template arguments and
/// what stands before the last blank.
std::string HtaShortName(std::string_view name);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_HTA_DIFF_NAMES_H_
