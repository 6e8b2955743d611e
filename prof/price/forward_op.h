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

/// What a backward kernel takes from the forward op of its node: fields of the forward kernel's
/// record, same meaning, and the names of its sequence markers without the numbers.
struct ForwardOp {
  int64_t id = 0;  ///< Differs between ops that differ in any of the lists.
  std::vector<std::string_view> markers;
  std::vector<std::string_view> layer;
  std::vector<std::string_view> trace;
  std::vector<std::string_view> mod;
  std::vector<std::string_view> op;
  std::vector<std::string_view> seq_names;  ///< "mm" of "mm, seq = 72".
};

/// Whether one of the sequence markers of a backward kernel ("MmBackward0, seq = 72") names the
/// node that an op of this name made.
bool FitsNode(std::string_view op, const std::vector<std::string_view>& node_texts);

/// Keeps each distinct forward op once.
///
/// Memory: two generations of some 20 MB. What an answer holds lives as long as a pin of `epochs`
/// that was taken before, at least until generation() has grown by two.
class ForwardOps {
 public:
  /// `epochs` must outlive this.
  explicit ForwardOps(Epochs* epochs);

  /// What a forward kernel's record says of its op. `annotations`: how many of them are the op's,
  /// from the outermost; the others are inside it.
  const ForwardOp* Of(const KernelRecord& forward, size_t annotations = SIZE_MAX);
  /// What a backward kernel's record says of its forward op itself (fwdMarker, ...).
  const ForwardOp* DescribedBy(const KernelRecord& backward);

  /// Number of the present generation, from 0.
  int64_t generation() const { return ops_.generation(); }

 private:
  /// The op that key_ is the flat text of.
  const ForwardOp* Find();

  TextCache<ForwardOp> ops_;
  std::string key_;  // Scratch.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_FORWARD_OP_H_
