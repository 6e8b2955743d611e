#ifndef OPLENS_PROF_VIEWS_KERNELS_TIMELINE_OVERLAY_H_
#define OPLENS_PROF_VIEWS_KERNELS_TIMELINE_OVERLAY_H_

#include "parse/chrome/chrome_overlay.h"
#include "parse/model/trace_needs.h"
#include "prof/path/critical_path.h"

namespace oplens::prof {

class Run;

inline constexpr TraceNeeds kTimelineOverlayNeeds = kCriticalPathNeeds;

/// Counters and links for the timeline of a run: how busy each GPU was, the queue of each stream,
/// the speed of copies, and where the critical path changes thread or stream. O(n log n); at most
/// kMostPoints points per counter.
parse::ChromeOverlay TimelineOverlayOf(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_TIMELINE_OVERLAY_H_
