#ifndef OPLENS_OPLENS_RUN_FACTS_H_
#define OPLENS_OPLENS_RUN_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oplens/screen.h"
#include "parse/model/family.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "prof/views/recording/coverage.h"

namespace oplens::screen {

/// Facts about the inputs themselves, and what is missing in them, which no view has.
class RunFacts {
 public:
  /// Begins an input; null: it holds records.
  void Begin(const prof::Run* run);
  void Add(const prof::PricedKernel& kernel);
  void End(const prof::Run* run);

  /// The source for all inputs; if they differ, the first input's.
  StepFacts::Source step_source() const { return step_source_; }
  const std::string& step_proposal() const { return step_proposal_; }
  const std::string& outside_steps() const { return outside_steps_; }
  /// Fills in the profilers, the GPUs and the largest gap in known data.
  void Fill(Screen* screen) const;

 private:
  /// Count of GPUs by name and whether the name is assumed.
  using GpuCounts = std::map<std::pair<std::string, bool>, size_t>;

  prof::Coverage coverage_;
  std::vector<std::string> profilers_;
  bool peaks_known_ = false;
  std::map<int64_t, std::string> priced_gpus_;  // Current input: names of GPUs with prices, by id.
  GpuCounts gpus_;                              // Only GPUs with work.
  Family family_ = Family::kUnknown;            // Of the current input.
  Family first_family_ = Family::kUnknown;      // Of the first profile.
  StepFacts::Source step_source_ = StepFacts::Source::kUnknown;
  std::string step_proposal_;
  std::string outside_steps_;
  size_t runs_ = 0;
  size_t ranks_ = 0;           // Runs that name their rank.
  std::set<int64_t> numbers_;  // Their rank numbers.
  bool records_ = false;       // Some input holds records.
  bool is_records_ = false;    // The current input holds records.
  bool counted_ = false;       // The current input is counted in runs_.
  std::map<std::string, std::string, std::less<>>
      record_gpus_;  // GPU name by rank and device, from records.
};

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_RUN_FACTS_H_
