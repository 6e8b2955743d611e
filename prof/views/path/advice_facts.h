#ifndef OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_
#define OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/advice/facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/path/advice_chains.h"

namespace oplens::prof {

class Run;

/// Parts of the trace that some facts need.
inline constexpr TraceNeeds kAdviceNeeds = {TracePart::kApiTimes, TracePart::kWaitCalls,
                                            TracePart::kLongCalls, TracePart::kMemoryEvents};

/// Gathers the facts of one rank that the advice rules read.
class AdviceFacts {
 public:
  /// `run`: null if there are only records.
  void Begin(const Run* run);
  void Add(const PricedKernel& kernel);
  advice::RankFacts End();

 private:
  void AddProduct(const PricedKernel& kernel, int64_t time_ns, int64_t mma_flops);
  void AddFit(const PricedKernel& kernel, int64_t time_ns);
  void AddOptimizer(const PricedKernel& kernel, int64_t time_ns, int64_t wait_ns);
  void AddTo(advice::Topic topic, const PricedKernel& kernel, int64_t time_ns, int64_t gain_ns);
  /// As AddTo, unless a group of kernels has the kernel.
  void AddLater(advice::Topic topic, const PricedKernel& kernel, int64_t gain_ns);
  const std::string& PlaceOf(const PricedKernel& kernel);
  void AddPass(const PricedKernel& kernel, int64_t time_ns);
  void AddPassGains();
  bool IsLooked(const PricedKernel& kernel) const;

  const Run* run_ = nullptr;
  Interval window_;
  /// Per kernel: how long its GPU waited for the host before it, ns; 0 if longer than
  /// advice::kLaunchWaitNs.
  std::vector<uint32_t> waits_ns_;
  advice::RankFacts facts_;
  AdviceChains chains_;
  // The current kernel:
  std::string place_;
  bool claimed_ = false;  // A rule has its time.
  std::vector<LaterClaim> later_;
  // Passes of an optimizer over lists of tensors:
  advice::TopicFacts passes_;
  int64_t pass_instance_ = 0;
  int64_t pass_bytes_ = 0;  ///< Of that call so far.
  int64_t most_pass_bytes_ = 0;
  double pass_bytes_per_s_ = 0;
};

/// Facts of a run that need no prices: steps, idle times, waits, copies, memory, collectives.
/// `waits_ns`: as in AdviceFacts.
void GatherRunFacts(const Run& run, advice::RankFacts* facts, std::vector<uint32_t>* waits_ns);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_ADVICE_FACTS_H_
