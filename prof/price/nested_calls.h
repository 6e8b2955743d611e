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
  kInner,  ///< The innermost that has a cost model and can be priced; one around it with data types
           ///< goes before one without that does the same work.
  kOuter,  ///< The outermost, as PyProf has it.
};

/// The annotated calls around one kernel, outermost first, and which of them is its op. Reused from
/// kernel to kernel.
class NestedCalls {
 public:
  struct Call {
    const Annotation* annotation;
    size_t index;  ///< In the list of texts.
  };

  /// `annotations` must outlive this.
  NestedCalls(OpChoice choice, Annotations* annotations)
      : choice_(choice), annotations_(*annotations) {}

  /// Takes the annotations that say something about a kernel of this direction: of more than 256
  /// the outermost and the innermost 128.
  void Collect(const std::vector<std::string_view>& texts, Direction direction);
  /// Of the nested calls of a forward op, drops what is inside the one that made the backward node
  /// of these texts, if its name says which.
  void DropInsideOfNode(const std::vector<std::string_view>& node_texts);

  const std::vector<Call>& calls() const { return calls_; }
  /// The op's; null when there is none. Valid until the calls change.
  const Call* Chosen() const;
  /// Whether the chosen one has a price.
  bool HasPrice() const;
  /// Whether no call has arguments; also without any.
  bool NamesOnly() const;
  /// Whether the calls of a forward op may have made the backward node of these texts. One without
  /// a backward, such as a fill, only ran before the op that did: they share the number when that
  /// op has no range of its own with it.
  bool MayHaveNode(const std::vector<std::string_view>& node_texts) const;

 private:
  /// Of a priced call without data types (PyTorch's own ranges, which tell sizes only): the next
  /// one around it that has types and is the same work. Else the call itself.
  const Call* WithTypes(const Call* inner) const;
  /// Of a priced call that only moves data: the next one around it that moves less, which knows
  /// that an operand of the inner call is expanded from a smaller tensor (repeat_interleave >
  /// copy_, index_select > gather). Else the call itself.
  const Call* WithFewerBytes(const Call* inner) const;

  OpChoice choice_;
  Annotations& annotations_;
  std::vector<Call> calls_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_NESTED_CALLS_H_
