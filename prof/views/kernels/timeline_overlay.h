#ifndef OPLENS_PROF_VIEWS_KERNELS_TIMELINE_OVERLAY_H_
#define OPLENS_PROF_VIEWS_KERNELS_TIMELINE_OVERLAY_H_

#include "parse/chrome/chrome_overlay.h"
#include "parse/model/trace_needs.h"
#include "prof/path/critical_path.h"

namespace oplens::prof {

class Run;

/// What a timeline needs of a trace for it.
inline constexpr TraceNeeds kTimelineOverlayNeeds = kCriticalPathNeeds;

/// What the views know of a run, for its timeline: how busy each GPU was, how much waited on each
/// stream, how fast copies were, and where the critical path goes from one thread or stream to
/// another. O(n log n); each counter has at most kMostPoints points.
parse::ChromeOverlay TimelineOverlayOf(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_TIMELINE_OVERLAY_H_
