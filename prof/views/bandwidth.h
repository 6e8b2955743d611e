#ifndef OPLENS_PROF_VIEWS_BANDWIDTH_H_
#define OPLENS_PROF_VIEWS_BANDWIDTH_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// The view `bandwidth`: how fast copies and fills were, by kind (docs/views.md).
inline constexpr TraceNeeds kBandwidthNeeds = {};
std::span<const Field> BandwidthFields();
std::unique_ptr<Partial> MakeBandwidth(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_BANDWIDTH_H_
