#ifndef OPLENS_PROF_PRICE_ANNOTATION_H_
#define OPLENS_PROF_PRICE_ANNOTATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/epochs.h"
#include "base/text_cache.h"
#include "ops/op_model.h"
#include "ops/rules/rules.h"
#include "parse/model/reason.h"

namespace oplens::prof {

/// One distinct annotation text, parsed and priced once.
struct Annotation {
  int64_t id = 0;  ///< Unique per text.
  std::string op;  ///< As written; empty if the text does not parse.
  std::string mod;
  std::optional<ops::PricedOp> price;
  Reason reason = Reason::kUnknownOp;  ///< Why there is no price.
  bool has_shapes = false;             ///< Some argument is a tensor.
  std::string shapes;                  ///< Of its tensors: "(32,128,768);(3072,768)".
  std::string_view dtype;              ///< Of its first tensor with a known type.
  bool has_types = false;              ///< Some tensor has a known type.
  bool names_only = false;             ///< The call has no arguments.
  bool has_all_types = false;          ///< All tensors outside lists have known types.
  bool is_noise = false;               ///< A Python look-up annotated by accident.
  bool is_backward_pass = false;       ///< The call that runs the whole backward pass.
  ops::RuleTrial rules;                ///< User's rules.
};

/// Parses and prices annotation texts, each distinct one once.
///
/// Memory: two generations of about 4 MB. An annotation lives as long as a pin of `epochs` taken
/// before the call of Of().
class Annotations {
 public:
  /// `rules`: the user's, or null. Both must outlive this.
  Annotations(Epochs* epochs, const ops::Rules* rules);

  const Annotation* Of(std::string_view text);

 private:
  TextCache<Annotation> cache_;
  const ops::Rules* rules_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_ANNOTATION_H_
