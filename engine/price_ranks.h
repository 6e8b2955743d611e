#ifndef OPLENS_ENGINE_PRICE_RANKS_H_
#define OPLENS_ENGINE_PRICE_RANKS_H_

#include "base/work_meter.h"
#include "parse/model/messages.h"
#include "prof/input/loaded_profile.h"

namespace oplens::prof {
struct Options;
class ViewRunner;
}  // namespace oplens::prof

namespace oplens::engine {

/// Whether views of these profiles can be found in each by itself, as `prof` finds them in
/// processes.
bool CanPriceApart(prof::LoadedProfiles profiles, const prof::Options& options);

/// Prices the profiles on up to options.many.jobs threads, and adds what the views find in each to
/// `runner`, in their order, and what there is to say to `messages`. `meter` was started. Throws
/// what any of them throws, the first in order.
void PriceApart(prof::LoadedProfiles profiles, const prof::Options& options,
                prof::ViewRunner* runner, Messages* messages, WorkMeter* meter);

}  // namespace oplens::engine

#endif  // OPLENS_ENGINE_PRICE_RANKS_H_
