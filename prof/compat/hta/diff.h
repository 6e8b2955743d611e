#ifndef OPLENS_PROF_COMPAT_HTA_DIFF_H_
#define OPLENS_PROF_COMPAT_HTA_DIFF_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/other_diff.h"
#include "prof/views/view.h"

namespace oplens::prof {

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

/// The name that the reference prints for a long one: without arguments, template arguments and
/// what stands before the last blank.
std::string HtaShortName(std::string_view name);

/// TraceDiff of HolisticTraceAnalysis 0.6.0 with its defaults: the first step of the first rank of
/// each side, a row a name with counts and total durations (0 where it did not run), what grew most
/// in time first. Which list of ops_diff a name is in is a column. `by`: "device" keeps host and
/// GPU apart, which the reference does when asked for one of them; "short_name" joins names by
/// HtaShortName. Both sides are the rows of HtaDiffNamesView.
std::unique_ptr<OtherDiff> MakeHtaDiff(const DiffInput& base, const DiffInput& now,
                                       const std::vector<std::string>& by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_DIFF_H_
