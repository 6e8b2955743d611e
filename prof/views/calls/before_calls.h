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

/// What the GPUs of a rank did before a call of a collective: between the end of the call before it
/// (the first event of the profile) and its start.
struct BeforeCall {
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr int32_t kWholePermille = 1000;
  /// What was begun since the call before began and took most time; kNone: they computed nothing.
  /// What runs beside that call counts: it may have been what this one came late for.
  uint32_t work = kNone;
  int32_t idle_permille = -1;  ///< How long nothing computed; -1: not known.
};

/// Of each call of a run.
struct BeforeCalls {
  Numbered<WorkName> works;
  std::vector<BeforeCall> calls;  ///< In the order of Run::collectives(); empty: not known.
};

/// Makes it of one run: kernels come in the order of their starts. Communication is left out.
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
