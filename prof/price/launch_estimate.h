#ifndef OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_
#define OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_

#include <functional>
#include <optional>

#include "ops/kernels/launch_sizes.h"
#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// Gives a kernel whose op has no price the work that its name and launch tell: docs/costs.md,
/// "Sizes from the launch". Call after its turn has come, before it is shown. `beside`: what the
/// kernels beside it on the stream tell of its sizes, asked only if its launch does not tell its
/// FLOPs and bytes.
void EstimateFromLaunch(
    WaitingRow* waiting,
    const std::function<std::optional<ops::LaunchSizes>(const PricedKernel& row)>& beside);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_
