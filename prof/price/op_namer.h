#ifndef OPLENS_PROF_PRICE_OP_NAMER_H_
#define OPLENS_PROF_PRICE_OP_NAMER_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// Gives kernels without an op the one that their names say: docs/correlation.md, "Names". O(log s)
/// a kernel of s streams.
///
/// Libraries compute some convolutions by the kernels of products, which have no name of their own:
/// such a kernel right after one of a convolution, or after a batch norm with little but
/// elementwise kernels between, is one of a convolution.
class OpNamer {
 public:
  /// Precondition: kernels of a stream come in order of start.
  void Name(PricedKernel* row);

  /// The next kernel is of another input or rank.
  void Restart() {
    streams_.clear();
    last_ = nullptr;
  }

 private:
  /// Of the kernels before on a stream.
  struct Before {
    enum class What : uint8_t { kNone, kTransform, kBatchNorm, kConvolution };
    What what = What::kNone;
    int between = 0;  ///< Kernels since then.
    bool backward = false;
    bool seen_backward = false;  ///< Some kernel before was certainly of a backward pass.
  };

  static void Forget(Before* before);
  static bool FollowsConvolution(const Before& before);

  using Stream = std::tuple<int64_t, int64_t, int64_t>;  // Process, GPU, stream.
  Before& BeforeOf(const Stream& stream);

  std::map<Stream, Before> streams_;
  std::pair<const Stream, Before>* last_ = nullptr;  // In streams_.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_OP_NAMER_H_
