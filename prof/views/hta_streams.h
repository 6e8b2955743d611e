#ifndef OPLENS_PROF_VIEWS_HTA_STREAMS_H_
#define OPLENS_PROF_VIEWS_HTA_STREAMS_H_

#include <memory>

#include "prof/run/hta_activity.h"
#include "prof/views/view.h"

namespace oplens::prof {

// The views idle, launches, queue and bandwidth by the rules of HolisticTraceAnalysis 0.6.0, with
// its defaults: docs/views.md. `options` may name no key of --by.

inline constexpr TraceNeeds kHtaStreamsNeeds = kHtaActivityNeeds;

std::unique_ptr<Partial> MakeHtaIdle(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaLaunches(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaQueue(const ViewOptions& options);
std::unique_ptr<Partial> MakeHtaBandwidth(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_HTA_STREAMS_H_
