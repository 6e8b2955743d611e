#ifndef OPLENS_PROF_SUMMARY_FILE_RUN_FACTS_H_
#define OPLENS_PROF_SUMMARY_FILE_RUN_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "prof/run/selection.h"

namespace oplens::prof {

class Run;
class Steps;

/// Of the runs that a summary is of, what a reader of it must know to tell whether two can be
/// compared. Texts by key; what is not known has no key:
///
///  - `gpu`: names of the GPUs that worked, sorted, "; " between them; `gpus`: how many worked
///  - `gpu_clock_hz`, `gpu_memory_bytes`: of these, the same
///  - `ranks`: inputs; `world_size`: as recorded
///  - `steps`: of a rank, "20" or "18 to 20"; `cut_steps`: how many of all are not whole
///  - `step_source`: "marked", "repetition" or "none"
///  - `selection`: "steps 3 to 7; device 0; time 0 to 5000 ns", where not all was looked at
///  - `kernels`: of all ranks; `families`: of the profiles, "kineto; nsys"
class RunFacts {
 public:
  explicit RunFacts(const Selection& selection = {}) : selection_(selection) {}

  /// A rank; null where it has only records.
  void Add(const Run* run);
  std::map<std::string, std::string> Texts() const;

 private:
  void AddSteps(const Steps& steps);

  Selection selection_;
  int64_t ranks_ = 0;
  int64_t gpus_ = 0;
  int64_t kernels_ = 0;
  int64_t cut_steps_ = 0;
  std::set<std::string> names_;
  std::set<int64_t> clocks_hz_;
  std::set<int64_t> memories_bytes_;
  std::set<int64_t> step_counts_;
  std::set<int64_t> world_sizes_;
  std::set<std::string> step_sources_;
  std::set<std::string> families_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_RUN_FACTS_H_
