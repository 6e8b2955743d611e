#ifndef OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_
#define OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/advice/facts.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

class Run;

/// Parts of the trace without which some facts are not known.
inline constexpr TraceNeeds kAdviceNeeds = {TracePart::kApiTimes, TracePart::kWaitCalls,
                                            TracePart::kLongCalls, TracePart::kMemoryEvents};

/// Gathers what rules of advice look at, of one rank.
class AdviceFacts {
 public:
  /// `run`: null where there are only records.
  void Begin(const Run* run);
  /// A kernel with its price.
  void Add(const PricedKernel& kernel);
  /// All that was found.
  advice::RankFacts End();

 private:
  void AddProduct(const PricedKernel& kernel, int64_t time_ns, int64_t mma_flops);
  void AddFit(const PricedKernel& kernel, int64_t time_ns);
  void AddOptimizer(const PricedKernel& kernel, int64_t time_ns, int64_t wait_ns);
  void AddTo(advice::Topic topic, const PricedKernel& kernel, int64_t time_ns, int64_t gain_ns);
  bool IsLooked(const PricedKernel& kernel) const;

  const Run* run_ = nullptr;
  Interval window_;
  /// By kernel: how long its GPU had waited for the host before it, ns; 0 where that was longer
  /// than advice::kLaunchWaitNs.
  std::vector<uint32_t> waits_ns_;
  advice::RankFacts facts_;
  std::string place_;  // Of the kernel at hand.
};

/// What is known of a run without its prices: steps, idle times, waits, copies, memory,
/// collectives. `waits_ns`: as in AdviceFacts.
void GatherRunFacts(const Run& run, advice::RankFacts* facts, std::vector<uint32_t>* waits_ns);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_
