#ifndef OPLENS_PROF_VIEWS_PATH_ADVICE_CHAINS_H_
#define OPLENS_PROF_VIEWS_PATH_ADVICE_CHAINS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/advice/facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/path/advice_claims.h"
#include "prof/views/path/stream_kernel.h"

namespace oplens::prof {

/// Gathers the facts that need the neighbours of a kernel on its stream (ClaimGroups).
///
/// Memory: some kernels of each stream, at most kMostWaiting in all.
class AdviceChains {
 public:
  /// Who has a kernel, or takes it unless a group does.
  struct Offer {
    bool claimed = false;  ///< A topic has it.
    advice::Topic topic = advice::Topic::kNone;
    int64_t gain_ns = 0;
    std::string_view place = {};
  };

  /// `facts` and `claims` must outlive the call of End().
  void Begin(advice::RankFacts* facts, AdviceClaims* claims);
  void Add(const PricedKernel& kernel, int64_t time_ns, const Offer& offer);
  /// Work that is not looked at, such as a collective, which ends the groups of its GPU.
  void Break(const PricedKernel& kernel);
  void End();

 private:
  using Stream = std::pair<int64_t, int64_t>;  // GPU, stream.
  struct Waiting {
    std::vector<StreamKernel> kernels;
    int64_t breaks = 0;  ///< Of its GPU at the last kernel.
  };

  void Settle(std::vector<StreamKernel>* kernels, size_t count);
  void SettleAll();

  advice::RankFacts* facts_ = nullptr;
  AdviceClaims* claims_ = nullptr;
  TextIds texts_;
  std::map<Stream, Waiting> streams_;
  std::map<int64_t, int64_t> breaks_;  ///< By GPU.
  size_t waiting_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_ADVICE_CHAINS_H_
