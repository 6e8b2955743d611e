#ifndef OPLENS_PARSE_JOIN_INFERENCE_H_
#define OPLENS_PARSE_JOIN_INFERENCE_H_

#include <cstdint>
#include <vector>

#include "parse/model/evidence.h"
#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

/// Where the op of a kernel was found that no row of its own tells.
struct Inferred {
  uint32_t kernel = 0;  ///< Whose op it is, by its number in output order.
  uint32_t donor = 0;   ///< The kernel whose op it takes: of the same file, or of the reference.
  /// Kernels whose donors are of one call are of one call if this is the same; from 1.
  uint32_t instance = 0;
  int64_t shift_ns = 0;  ///< From times of the donor's step to those of the kernel's.
  Evidence evidence = Evidence::kNone;
  Confidence confidence = Confidence::kUnknown;
  bool layer = false;  ///< Whether the layer is the donor's too.
};

/// Whether no row of the file tells the op of a kernel: its launch is not there, or it is that of a
/// graph whose capture is not.
inline bool IsUntold(const Kernel& kernel) {
  if (kernel.capture != kNoLaunch) return false;
  return kernel.launch == kNoLaunch || kernel.graph;
}

/// The ops that are inferred: docs/correlation.md, "Evidence". Nothing where every kernel has its
/// own. O(n log n) for n kernels.
class Inference {
 public:
  Inference() = default;
  /// `reference`: another recording, or null. `repetition`: whether steps explain each other.
  Inference(const Joined& joined, const Joined* reference, bool repetition);

  /// Of a kernel in output order; null: nothing.
  const Inferred* Of(size_t kernel) const;
  const std::vector<Inferred>& all() const { return all_; }

 private:
  std::vector<Inferred> all_;  // By kernel.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_INFERENCE_H_
