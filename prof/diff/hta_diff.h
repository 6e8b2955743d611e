#ifndef OPLENS_PROF_DIFF_HTA_DIFF_H_
#define OPLENS_PROF_DIFF_HTA_DIFF_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/compat_diff.h"

namespace oplens::prof {

inline constexpr std::string_view kHtaDiffTables[] = {"names"};
inline constexpr std::string_view kHtaDiffKeys[] = {"device", "short_name"};

/// TraceDiff of HolisticTraceAnalysis 0.6.0 with its defaults: the first step of the first rank of
/// each side, a row a name with counts and total durations (0 where it did not run), what grew most
/// in time first. Which list of ops_diff a name is in is a column. `by`: "device" keeps host and
/// GPU apart, which the reference does when asked for one of them; "short_name" joins names by
/// HtaShortName. Both sides are the rows of HtaDiffNamesView.
std::unique_ptr<CompatDiff> MakeHtaDiff(const DiffInput& base, const DiffInput& now,
                                        const std::vector<std::string>& by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_HTA_DIFF_H_
