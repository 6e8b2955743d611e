#ifndef OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_
#define OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/advice/facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/idle_gaps.h"
#include "prof/views/path/advice_chains.h"
#include "prof/views/path/advice_claims.h"
#include "prof/views/path/advice_steps.h"
#include "prof/views/path/optimizer_passes.h"

namespace oplens::prof {

class Run;

/// Parts of the trace that some facts need.
inline constexpr TraceNeeds kAdviceNeeds = {TracePart::kApiTimes, TracePart::kWaitCalls,
                                            TracePart::kLongCalls, TracePart::kWaitEvents,
                                            TracePart::kMemoryEvents};

/// Gathers the facts of one rank that the advice rules read.
class AdviceFacts {
 public:
  /// `run`: null if there are only records.
  void Begin(const Run* run);
  void Add(const PricedKernel& kernel);
  /// `steps`: gets what is known by step, unless it is null.
  advice::RankFacts End(AdviceSteps* steps = nullptr);

 private:
  /// What a kernel could save, and by which topic.
  struct Offer {
    advice::Topic topic = advice::Topic::kNone;
    int64_t gain_ns = -1;
    std::string_view detail;  ///< Follows the place.
  };

  bool IsLooked(const PricedKernel& kernel) const;
  void OfferTo(advice::Topic topic, int64_t gain_ns, std::string_view detail = {});
  void OfferProduct(const PricedKernel& kernel, int64_t time_ns, int64_t mma_flops);
  void OfferFit(const PricedKernel& kernel, int64_t time_ns);
  void OfferOptimizer(const PricedKernel& kernel, int64_t time_ns);
  void Take(const PricedKernel& kernel, int64_t time_ns);
  void TakeWait(const PricedKernel& kernel, int64_t time_ns);
  void TakeWaits();
  void SetPlace(const PricedKernel& kernel, std::string_view detail);

  const Run* run_ = nullptr;
  AdviceClaims claims_;
  advice::RankFacts facts_;
  AdviceChains chains_;
  OptimizerPasses passes_;
  Offer offer_;          // The best for the current kernel.
  std::string place_;    // Of the current kernel,
  std::string padding_;  // and what it would be padded to.
};

/// Facts of a run that need no prices: steps, idle times, waits, copies, memory, collectives.
void GatherRunFacts(const Run& run, advice::RankFacts* facts, AdviceClaims* claims);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_
