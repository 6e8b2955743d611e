#ifndef OPLENS_RECORD_CYCLES_H_
#define OPLENS_RECORD_CYCLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace oplens::record {

/// A mark of a capture schedule: nvtx_annotate/vocabulary/marker_format.h.
struct CycleMark {
  enum class Kind : uint8_t { kSchedule, kStart, kComplete, kDropped };

  /// nullopt if a mark of the domain "oplens" does not belong to a schedule.
  static std::optional<CycleMark> Read(int64_t time_ns, std::string_view text);

  int64_t time_ns = 0;
  int64_t number = 0;  ///< For kStart and kComplete.
  Kind kind = Kind::kSchedule;
};

/// A cycle: what was recorded in [begin_ns, end_ns), which gets its own file.
struct Cycle {
  int64_t number = 0;
  int64_t last_number = 0;  ///< The last of several cycles that share a file, see kMostCycleFiles.
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool complete = true;  ///< False for a last cycle that the program did not report complete.
};

/// Maximum files per process; later cycles share the last one, so that an endless schedule of short
/// cycles cannot fill the disk with files.
inline constexpr size_t kMostCycleFiles = 1000;

/// The cycles of a process, disjoint and ordered, with rising numbers, without those that the
/// program dropped.
std::vector<Cycle> CyclesOf(std::vector<CycleMark> marks);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CYCLES_H_
