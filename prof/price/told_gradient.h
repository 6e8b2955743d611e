#ifndef OPLENS_PROF_PRICE_TOLD_GRADIENT_H_
#define OPLENS_PROF_PRICE_TOLD_GRADIENT_H_

#include <optional>

#include "ops/kernels/gradient_evidence.h"
#include "prof/price/annotation.h"
#include "prof/price/forward_op.h"

namespace oplens::prof {

/// Which gradient of its forward op a kernel computes that has a priced annotation of its own in
/// the node of that op: the product inside `linear`'s node that sums over the rows is that of the
/// weight. nullopt: not told.
std::optional<ops::GradientGuess> GradientOfOwnCall(const Annotation& own, const ForwardOp& forward,
                                                    Annotations* annotations);

/// Which gradient of a priced call for several the function right around the kernel is for
/// (cudnn_convolution_backward_weight). nullopt: none.
std::optional<ops::GradientGuess> GradientOfFunctionInside(const Annotation& call,
                                                           const Annotation& innermost);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_TOLD_GRADIENT_H_
