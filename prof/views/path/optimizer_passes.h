#ifndef OPLENS_PROF_VIEWS_PATH_OPTIMIZER_PASSES_H_
#define OPLENS_PROF_VIEWS_PATH_OPTIMIZER_PASSES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "prof/advice/facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/path/advice_claims.h"

namespace oplens::prof {

/// The calls of an optimizer that each pass once over lists of tensors (_foreach_add_ and the
/// like): what one pass for all would save.
class OptimizerPasses {
 public:
  void Begin() { *this = OptimizerPasses(); }
  /// Whether the kernel is of such a call whose traffic and roof are known.
  bool Add(const PricedKernel& kernel, int64_t time_ns);
  /// Adds Topic::kForeach; `facts` has its steps.
  void End(advice::RankFacts* facts, AdviceClaims* claims) const;

 private:
  struct Pass {
    uint32_t kernel = 0;
    int64_t time_ns = 0;
  };

  advice::TopicFacts passes_;
  std::vector<Pass> kernels_;
  int64_t instance_ = 0;  ///< The last call,
  int64_t bytes_ = 0;     ///< and what its kernels moved so far.
  int64_t most_bytes_ = 0;
  double bytes_per_s_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_OPTIMIZER_PASSES_H_
