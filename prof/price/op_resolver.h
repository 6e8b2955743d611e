#ifndef OPLENS_PROF_PRICE_OP_RESOLVER_H_
#define OPLENS_PROF_PRICE_OP_RESOLVER_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_cache.h"
#include "ops/gpu/gpu.h"
#include "ops/kernels/gradient_evidence.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"
#include "ops/rules/rules.h"
#include "parse/model/kernel_record.h"
#include "parse/model/reason.h"
#include "prof/price/link_backward.h"
#include "prof/price/row.h"

namespace oplens::prof {

/// Which of a kernel's nested annotations is its op.
enum class OpChoice {
  kInner,  ///< The innermost that has a cost model and can be priced; one around it with data types
           ///< goes before one without that does the same work.
  kOuter,  ///< The outermost, as PyProf has it.
};

/// One distinct annotation text, read and priced once.
struct Annotation {
  std::string op;  ///< As written; empty when the text does not parse.
  std::string mod;
  std::optional<ops::PricedOp> price;
  Reason reason = Reason::kUnknownOp;  ///< Why there is no price.
  bool has_shapes = false;             ///< It has a tensor argument.
  std::string shapes;                  ///< Of its tensors: "(32,128,768);(3072,768)".
  std::string_view dtype;              ///< Of its first tensor of a known type.
  bool has_types = false;              ///< It has one whose data type is known.
  bool names_only = false;             ///< The call has no arguments.
  bool has_all_types = false;          ///< All tensors have known types but members of lists.
  bool is_noise = false;               ///< A look-up of Python that was annotated by accident.
  bool is_backward_pass = false;       ///< The call that runs the whole backward pass.
};

/// A call that encloses the priced one and has a price too.
struct OuterCall {
  const Annotation* annotation;
  int64_t start_ns;
};

/// What decides a kernel's price and which kernels share it.
struct Resolution {
  const Annotation* priced = nullptr;        ///< Null: no price; the row says why.
  std::optional<int64_t> call_start_ns;      ///< Start of the priced call's range, where known.
  const ForwardOp* forward = nullptr;        ///< Set when the price came from a forward op.
  const void* kernel = nullptr;              ///< The same for kernels of the same full name.
  std::optional<ops::KernelKind> kind = {};  ///< What a rule of the user says of the kernel.
  int64_t forward_run = 0;                   ///< Which run of `forward`; see ops::ForwardMatch.
  /// Of a kernel that has its own annotation inside the node of a forward op: which of that op's
  /// gradients it computes. Of one of a call for several gradients: which the function says that
  /// it runs under inside that call.
  std::optional<ops::GradientGuess> gradient = {};
  /// Outermost first; empty unless call_start_ns is known. Valid until the next Resolve().
  std::span<const OuterCall> outer = {};
};

/// Finds the op of each kernel: from its own annotations, or for a backward kernel without any, or
/// with names only, from the forward op of its sequence id. Texts repeat, so each is parsed and
/// priced once.
class OpResolver {
 public:
  /// `gpu`: that all kernels ran on, whatever their records say; null: what each record says.
  /// `rules`: of the user, null for none; must outlive this object.
  explicit OpResolver(OpChoice choice, const ops::Gpu* gpu = nullptr,
                      const ops::Rules* rules = nullptr)
      : choice_(choice), rules_(rules), given_gpu_(gpu) {}

  /// Fills every field of `row` but index, flops and bytes. Call it in the order of the records.
  /// What row and resolution point to lives as long as `record` and until the second Advance() from
  /// now.
  Resolution Resolve(const KernelRecord& record, Row* row);

  /// Whether Advance() is due to keep memory bounded.
  bool IsFull() const;
  /// Forgets the texts and forward ops not met since the Advance() before.
  void Advance();

 private:
  struct Marker {
    const Annotation* annotation;
    size_t index;  // In the list of markers.
  };

  const Annotation* Understand(std::string_view text);
  /// The cached judgement on a full kernel name.
  const ops::TensorCoreVerdict* TensorCoreOf(std::string_view long_name);
  /// The cached GPU of a record; null when the record does not tell it.
  const ops::Gpu* GpuOf(const KernelRecord& record);
  /// The cached judgement of the user's rules on a full kernel name.
  std::optional<ops::KernelKind> RuledKindOf(std::string_view long_name);
  /// Fills markers_ with the markers that say something about a kernel of this direction: of a
  /// record with more than kMaxMarkers the outermost and innermost half of these.
  void Collect(const std::vector<std::string_view>& texts, Direction direction);
  /// Of the nested calls of a forward op, drops what is inside the one that made the backward node,
  /// if its name says which.
  void DropInsideOfNode(const KernelRecord& backward);
  /// Whether the forward op whose markers were collected may have made the node of a backward
  /// kernel. One without a backward, such as a fill, only ran before the op that did: they share
  /// the number when that op has no range of its own with it.
  bool MayHaveNode(const KernelRecord& backward) const;
  const Marker* ChoosePriced() const;
  /// Whether no collected marker has arguments; also without any.
  bool NamesOnly() const;
  /// Whether the chosen one has a price.
  bool HasPrice() const;
  /// Of a priced call without data types (PyTorch's own ranges, which tell sizes only): the next
  /// one around it that has types and is the same work. Else the call itself.
  const Marker* WithTypes(const Marker* inner) const;
  /// Of a priced call that only moves data: the next one around it that moves less, which knows
  /// that an operand of the inner call is expanded from a smaller tensor (repeat_interleave >
  /// copy_, index_select > gather). Else the call itself.
  const Marker* WithFewerBytes(const Marker* inner) const;
  /// Takes layer and stack of a backward kernel from its forward op where it has none.
  void TakeSurroundings(const ForwardOp& forward, Row* row);
  /// Which gradient of its forward op a backward kernel with an annotation of its own computes.
  std::optional<ops::GradientGuess> GradientOf(const Annotation& own, const ForwardOp& forward);
  /// Which gradient of the chosen call an unpriced function inside it is for.
  std::optional<ops::GradientGuess> GradientInside(const Marker& chosen) const;
  /// Fills outer_ with the priced markers around the chosen one.
  void CollectOuter(const Marker* chosen, const std::vector<int64_t>& starts_ns);

  static constexpr size_t kMaxMarkers = 256;

  OpChoice choice_;
  const ops::Rules* rules_;
  TextCache<Annotation> annotations_;
  TextCache<std::optional<ops::KernelKind>> ruled_kinds_;  // Empty without rules.
  const ops::Gpu* given_gpu_;
  TextCache<ops::TensorCoreVerdict> kernels_;
  TextCache<ops::Gpu> gpus_;            // By name and facts.
  std::string last_gpu_text_;           // Key of the last record's,
  const ops::Gpu* last_gpu_ = nullptr;  // which is the next one's too as a rule.
  BackwardLinker linker_;
  std::vector<Marker> markers_;   // Scratch: outermost first.
  std::vector<OuterCall> outer_;  // Scratch: outermost first.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_OP_RESOLVER_H_
