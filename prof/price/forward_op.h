#ifndef OPLENS_PROF_PRICE_FORWARD_OP_H_
#define OPLENS_PROF_PRICE_FORWARD_OP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/epochs.h"
#include "base/text_cache.h"
#include "parse/model/kernel_record.h"

namespace oplens::prof {

/// What a backward kernel takes from its node's forward op: fields of the forward kernel's record
/// with the same meaning, and the names in its sequence markers without numbers.
struct ForwardOp {
  int64_t id = 0;  ///< Equal only if all lists are.
  std::vector<std::string_view> markers;
  std::vector<std::string_view> layer;
  std::vector<std::string_view> trace;
  std::vector<std::string_view> mod;
  std::vector<std::string_view> op;
  std::vector<std::string_view> seq_names;  ///< "mm" of "mm, seq = 72".
};

/// Whether a sequence marker of a backward kernel ("MmBackward0, seq = 72") names such an op's
/// node.
bool FitsNode(std::string_view op, const std::vector<std::string_view>& node_texts);

/// Stores each distinct forward op once.
///
/// Memory: two generations of about 20 MB. What a result points to lives as long as a pin of
/// `epochs` taken before the call, and at least until generation() has grown by two.
class ForwardOps {
 public:
  /// `epochs` must outlive this.
  explicit ForwardOps(Epochs* epochs);

  /// The op of a forward kernel's record, whose outermost `annotations` belong to it.
  const ForwardOp* Of(const KernelRecord& forward, size_t annotations = SIZE_MAX);
  /// The forward op that a backward kernel's own record describes (fwdMarker, ...).
  const ForwardOp* DescribedBy(const KernelRecord& backward);

  /// The current generation, from 0.
  int64_t generation() const { return ops_.generation(); }

 private:
  /// The op whose flat text is key_.
  const ForwardOp* Find();

  TextCache<ForwardOp> ops_;
  std::string key_;  // Scratch.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_FORWARD_OP_H_
