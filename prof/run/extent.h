#ifndef OPLENS_PROF_RUN_EXTENT_H_
#define OPLENS_PROF_RUN_EXTENT_H_

#include <optional>

#include "parse/model/trace.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"

namespace oplens::prof {

/// From the first start to the last end of the host's ranges (those without an end count with their
/// start) and the calls that launched work; nullopt without any. Other API calls have no part in
/// it: not every reading of a profile has them.
std::optional<Interval> HostExtent(const Trace& trace, const DeviceWork& work);

/// The same with what the GPUs did.
std::optional<Interval> RunExtent(const Trace& trace, const DeviceWork& work);

/// Makes the extent hold [start, end] too, but for an end before the start.
void Extend(int64_t start_ns, int64_t end_ns, std::optional<Interval>* extent);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_EXTENT_H_
