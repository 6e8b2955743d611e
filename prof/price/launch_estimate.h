#ifndef OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_
#define OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_

#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// Gives a kernel whose op has no price the work that its name and launch tell: docs/costs.md,
/// "Sizes from the launch". Call after its turn has come, before it is shown.
void EstimateFromLaunch(WaitingRow* waiting);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_LAUNCH_ESTIMATE_H_
