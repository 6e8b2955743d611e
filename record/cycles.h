#ifndef OPLENS_RECORD_CYCLES_H_
#define OPLENS_RECORD_CYCLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace oplens::record {

/// A mark of the program's capture schedule: nvtx_annotate/vocabulary/marker_format.h.
struct CycleMark {
  enum class Kind : uint8_t { kSchedule, kStart, kComplete, kDropped };

  /// Nothing where a mark of the domain "oplens" is none of a schedule.
  static std::optional<CycleMark> Read(int64_t time_ns, std::string_view text);

  int64_t time_ns = 0;
  int64_t number = 0;  ///< Of kStart and kComplete.
  Kind kind = Kind::kSchedule;
};

/// What was recorded from the start of a cycle to its end, [begin_ns, end_ns), is to have a file of
/// its own.
struct Cycle {
  int64_t number = 0;
  int64_t last_number = 0;  ///< Another one where the file has several, see kMostCycleFiles.
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool complete = true;  ///< The program did not say so of the last one where it was cut off.
};

/// A schedule of short cycles without an end would fill the disk with files: all from this one on
/// are in one.
inline constexpr size_t kMostCycleFiles = 1000;

/// The cycles of a process, which do not overlap, in order; their numbers rise. Those that the
/// program dropped are not among them.
std::vector<Cycle> CyclesOf(std::vector<CycleMark> marks);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CYCLES_H_
