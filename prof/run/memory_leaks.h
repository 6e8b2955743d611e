#ifndef OPLENS_PROF_RUN_MEMORY_LEAKS_H_
#define OPLENS_PROF_RUN_MEMORY_LEAKS_H_

#include <cstdint>
#include <optional>

#include "prof/run/memory_life.h"
#include "prof/run/steps.h"

namespace oplens::prof {

/// Which pieces of memory a step left behind: it took them, and they were there behind its end and
/// at the end of the recording.
class MemoryLeaks {
 public:
  /// Both must outlive this object.
  MemoryLeaks(const MemoryLife& memory, const Steps& steps);

  /// nullopt where the run has no steps, or it is not known what became of the piece. Of the step
  /// behind whose end nothing was recorded of memory, nothing is known to have been left.
  std::optional<bool> IsLeak(const MemoryLife::Piece& piece) const;

 private:
  const MemoryLife& memory_;
  const Steps& steps_;
  int64_t last_ns_ = INT64_MIN;  // Of all memory events.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MEMORY_LEAKS_H_
