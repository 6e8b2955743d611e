#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_CYCLE_MARKS_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_CYCLE_MARKS_H_

// The marks of a capture schedule, in the domain "oplens". They begin like those of the capture
// window (marker_format.h) and mean the same; the rest tells the cycle. C++17.

namespace oplens::markers {

/// A schedule begins, and not with a cycle.
inline constexpr const char* kScheduleMark = "capture stop: schedule";
/// The number of the cycle follows, from 1.
inline constexpr const char* kCycleStartMark = "capture start: cycle ";
/// It is complete; its number follows.
inline constexpr const char* kCycleStopMark = "capture stop: cycle ";
/// The cycle that was begun last is to be forgotten.
inline constexpr const char* kDroppedMark = "capture stop: dropped";

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_CYCLE_MARKS_H_
