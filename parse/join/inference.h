#ifndef OPLENS_PARSE_JOIN_INFERENCE_H_
#define OPLENS_PARSE_JOIN_INFERENCE_H_

#include <cstdint>
#include <vector>

#include "parse/model/evidence.h"
#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

/// The inferred op of a kernel that no row of its own identifies.
struct Inferred {
  uint32_t kernel = 0;  ///< Its index in output order.
  uint32_t donor = 0;   ///< The kernel whose op it takes, by WorkIndex of the same file, or of the
                        ///< reference.
  /// From 1; equal for kernels of one call, if their donors are of one call too.
  uint32_t instance = 0;
  int64_t shift_ns = 0;  ///< From times of the donor's step to those of the kernel's.
  Evidence evidence = Evidence::kNone;
  Confidence confidence = Confidence::kUnknown;
  bool layer = false;  ///< Whether the layer is the donor's too.
  /// Whether the arguments are: the two have one grid and block, or one of them has none recorded.
  bool arguments = true;
};

/// Whether no row identifies a kernel's op: its launch, or the capture of its graph, is missing.
inline bool HasNoRecordedOp(const Kernel& kernel) {
  if (kernel.capture != kNoLaunch) return false;
  return kernel.launch == kNoLaunch || kernel.graph;
}

/// Inferred ops: docs/correlation.md, "Evidence". Empty if all have their own. O(n log n).
class Inference {
 public:
  Inference() = default;
  /// `reference`: another recording, or null. `repetition`: whether steps explain each other.
  /// `captures`: whether what was captured explains replays of the same file.
  Inference(const Joined& joined, const Joined* reference, bool repetition, bool captures);

  /// `kernel`: index in output order. Returns null if nothing was inferred.
  const Inferred* Of(size_t kernel) const;
  const std::vector<Inferred>& all() const { return all_; }

 private:
  void CompareSizes(const Joined& joined, const Joined* reference);

  std::vector<Inferred> all_;  // By kernel.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_INFERENCE_H_
