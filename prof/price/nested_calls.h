#ifndef OPLENS_PROF_PRICE_NESTED_CALLS_H_
#define OPLENS_PROF_PRICE_NESTED_CALLS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "parse/model/phase.h"
#include "prof/price/annotation.h"

namespace oplens::prof {

/// Which of a kernel's nested annotations is its op.
enum class OpChoice {
  /// The innermost with a cost model that can be priced; an enclosing call with data types is
  /// preferred to one without that does the same work.
  kInner,
  kOuter,  ///< The outermost, as in PyProf.
};

/// The annotated calls around one kernel, outermost first, and its op. Reused between kernels.
class NestedCalls {
 public:
  struct Call {
    const Annotation* annotation;
    size_t index;  ///< In the list of texts.
  };

  /// `annotations` must outlive this.
  NestedCalls(OpChoice choice, Annotations* annotations)
      : choice_(choice), annotations_(*annotations) {}

  /// Collects the annotations relevant to this direction; beyond 256, the outer and inner 128.
  void Collect(const std::vector<std::string_view>& texts, Direction direction);
  /// For a forward op: drops calls inside the one that made this backward node, if its name says
  /// so.
  void DropInsideOfNode(const std::vector<std::string_view>& node_texts);

  const std::vector<Call>& calls() const { return calls_; }
  /// The op's call; null if there is none. Valid until the calls change.
  const Call* Chosen() const;
  /// Whether the chosen call has a price.
  bool HasPrice() const;
  /// Whether no call has arguments; true without calls.
  bool NamesOnly() const;
  /// Whether the forward op's calls may have made the backward node of these texts. A call without
  /// a backward, such as a fill, only ran before the op that made it: they share the number if that
  /// op has no range of its own with it.
  bool MayHaveNode(const std::vector<std::string_view>& node_texts) const;

 private:
  /// For a priced call without data types (PyTorch's own ranges only record sizes): the next
  /// enclosing call with types that does the same work, otherwise the call itself.
  const Call* WithTypes(const Call* inner) const;
  /// For a priced call that only moves data: the next enclosing call that moves less, since it
  /// knows that an operand is expanded from a smaller tensor (repeat_interleave > copy_,
  /// index_select > gather); otherwise the call itself.
  const Call* WithFewerBytes(const Call* inner) const;

  OpChoice choice_;
  Annotations& annotations_;
  std::vector<Call> calls_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_NESTED_CALLS_H_
