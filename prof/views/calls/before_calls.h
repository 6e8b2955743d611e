#ifndef OPLENS_PROF_VIEWS_CALLS_BEFORE_CALLS_H_
#define OPLENS_PROF_VIEWS_CALLS_BEFORE_CALLS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/run/text_numbers.h"
#include "prof/views/common/numbered.h"
#include "prof/views/common/work_place.h"

namespace oplens::prof {

class Run;

/// What the GPUs of a rank did before a collective call: from the end of the previous call (or the
/// first event of the profile) to its start.
struct BeforeCall {
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr int32_t kWholePermille = 1000;
  /// The work begun since the start of the previous call that took most time; kNone: nothing was
  /// computed. Work that overlaps the previous call counts: this call may have been late because of
  /// it.
  uint32_t work = kNone;
  int32_t idle_permille = -1;  ///< Share of that time without compute; -1: unknown.
};

struct BeforeCalls {
  Numbered<WorkName> works;
  std::vector<BeforeCall> calls;  ///< In the order of Run::collectives(); empty: unknown.
};

/// Builds BeforeCalls of one run. Takes kernels in order of start; ignores communication.
class BeforeCallsMaker {
 public:
  /// `run` must outlive this object.
  explicit BeforeCallsMaker(const Run& run);

  void Add(const PricedKernel& kernel);
  BeforeCalls Take();

 private:
  void PassCalls(int64_t until_ns);
  void EndGap();

  const Run& run_;
  TextNumbers texts_;
  BeforeCalls before_;
  // Between two calls:
  int64_t gap_start_ns_ = 0;
  int64_t busy_ns_ = 0;
  int64_t busy_until_ns_ = 0;
  std::unordered_map<uint64_t, int64_t> times_ns_;  // By WorkPlace::key().
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_BEFORE_CALLS_H_
