#ifndef OPLENS_PROF_PRICE_WAITING_ROW_H_
#define OPLENS_PROF_PRICE_WAITING_ROW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/epochs.h"
#include "ops/kernels/gradient_evidence.h"
#include "ops/kernels/kernel_name.h"
#include "parse/model/kernel_record.h"
#include "prof/price/annotation.h"
#include "prof/price/forward_op.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

struct OpInstance;

/// A priced call that encloses the chosen one.
struct OuterCall {
  const Annotation* annotation;
  int64_t start_ns;
};

/// What decides a kernel's price and the kernels that share it.
struct Resolution {
  const Annotation* priced = nullptr;        ///< Null: no price; the row says why.
  std::optional<int64_t> call_start_ns;      ///< Start of the priced call's range, if known.
  const ForwardOp* forward = nullptr;        ///< Set if the price came from a forward op.
  int64_t kernel_id = 0;                     ///< KernelFacts::id of its full name; 0: none.
  std::optional<ops::KernelKind> kind = {};  ///< By rule or name.
  int64_t forward_run = 0;                   ///< Which run of `forward`; see ForwardMatch.
  /// The gradient of the forward op, for a kernel with its own annotation inside that op's node;
  /// for a call with several gradients, the one named by the function that the kernel runs under.
  std::optional<ops::GradientGuess> gradient = {};
  /// Keeps alive what this and the row point to.
  Epochs::Pin pin = {};
};

/// A row waiting for other kernels of its op call, with everything its views point to.
struct WaitingRow {
  std::string line;
  RecordReader reader;
  KernelRecord record;
  PricedKernel row;
  Resolution resolution;
  std::vector<OuterCall> outer;    ///< Outermost first; empty if the call's start is unknown.
  Epochs::Pin estimate_pin;        ///< Keeps alive what a LaunchEstimator gave the row.
  int64_t number = 0;              ///< Order of the kernel, from 1.
  int64_t turn = 0;                ///< Order of the run of successive rows of one call on a stream.
  OpInstance* instance = nullptr;  ///< Null: no priced call, or one already charged.
};

/// Charged direction: backward if linked to a forward op, otherwise the call itself, anywhere.
inline Direction PricedDirection(const WaitingRow& row) {
  return row.resolution.forward != nullptr ? Direction::kBackward : Direction::kForward;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_WAITING_ROW_H_
