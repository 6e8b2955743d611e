#ifndef OPLENS_PROF_VIEWS_PATH_ADVICE_CHAINS_H_
#define OPLENS_PROF_VIEWS_PATH_ADVICE_CHAINS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "prof/advice/facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/path/stream_kernel.h"

namespace oplens::prof {

/// Gathers the facts that need the neighbours of a kernel on its stream (ClaimGroups).
///
/// Memory: some kernels of each stream, at most kMostWaiting in all.
class AdviceChains {
 public:
  /// `facts` must outlive the call of End().
  void Begin(advice::RankFacts* facts);
  /// `claimed`: a rule has its time, so that no other counts it. `later`: rules that have it if no
  /// group has.
  void Add(const PricedKernel& kernel, int64_t time_ns, bool claimed,
           std::vector<LaterClaim> later);
  /// Work that is not looked at, such as a collective, which ends the groups of its GPU.
  void Break(const PricedKernel& kernel);
  void End();

 private:
  using Stream = std::pair<int64_t, int64_t>;  // GPU, stream.

  void Settle(std::vector<StreamKernel>* kernels, size_t count);
  void SettleAll();

  advice::RankFacts* facts_ = nullptr;
  TextIds texts_;
  std::map<Stream, std::vector<StreamKernel>> streams_;
  size_t waiting_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_ADVICE_CHAINS_H_
