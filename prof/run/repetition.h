#ifndef OPLENS_PROF_RUN_REPETITION_H_
#define OPLENS_PROF_RUN_REPETITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace oplens::prof {

/// The end of a sequence: `count` times the same `period` items.
struct Repetition {
  int64_t period = 0;
  int64_t count = 0;
};

inline constexpr int64_t kLeastRepetitions = 3;

/// The repetition at the end of a sequence of hashes that holds most of them, and of these the
/// shortest. What came before (loading, warming up) may differ. It must be at least
/// kLeastRepetitions times, at least half of the sequence, and more than one item, so that no loop
/// inside a step passes for the steps. Linear time; 4 bytes an item.
std::optional<Repetition> FindRepetition(std::span<const uint64_t> sequence);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_REPETITION_H_
