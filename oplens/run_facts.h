#ifndef OPLENS_OPLENS_RUN_FACTS_H_
#define OPLENS_OPLENS_RUN_FACTS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oplens/screen.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/recording/coverage.h"

namespace oplens::prof {
class Run;
}  // namespace oplens::prof

namespace oplens::screen {

/// What the inputs themselves are, and what they lack: what no view has.
class RunFacts {
 public:
  /// An input begins; null: it holds records.
  void Begin(const prof::Run* run);
  void Add(const prof::PricedKernel& kernel);
  void End(const prof::Run* run);

  /// Of all inputs; of different ones, that of the first.
  StepFacts::Source step_source() const { return step_source_; }
  /// Fills what recorded the inputs, on which GPUs, and the largest gap of what is known.
  void Fill(Screen* screen) const;

 private:
  /// How many of a name, and whether they are taken for such.
  using GpuCounts = std::map<std::pair<std::string, bool>, size_t>;

  prof::Coverage coverage_;
  std::vector<std::string> profilers_;
  bool peaks_known_ = false;
  std::map<int64_t, std::string> priced_gpus_;  // Of the input at hand: names of those with prices.
  GpuCounts gpus_;                              // Those that did something.
  Family family_ = Family::kUnknown;            // Of the input at hand.
  Family first_family_ = Family::kUnknown;      // Of the first profile.
  StepFacts::Source step_source_ = StepFacts::Source::kUnknown;
  size_t runs_ = 0;
  size_t ranks_ = 0;           // Of these, those that say which rank they are of,
  std::set<int64_t> numbers_;  // and which.
  bool records_ = false;       // Some input held records;
  bool is_records_ = false;    // the one at hand does,
  bool counted_ = false;       // and is among runs_.
  std::map<std::string, std::string, std::less<>>
      record_gpus_;  // Of records: name by rank, device.
};

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_RUN_FACTS_H_
