#ifndef OPLENS_PROF_PRICE_WAITING_ROW_H_
#define OPLENS_PROF_PRICE_WAITING_ROW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/epochs.h"
#include "ops/kernels/gradient_evidence.h"
#include "ops/kernels/kernel_name.h"
#include "parse/model/kernel_record.h"
#include "prof/price/annotation.h"
#include "prof/price/forward_op.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

struct OpInstance;

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
  int64_t kernel_id = 0;                     ///< KernelFacts::id of its full name; 0: not told.
  std::optional<ops::KernelKind> kind = {};  ///< What a rule of the user says of the kernel.
  int64_t forward_run = 0;                   ///< Which run of `forward`; see ForwardMatch.
  /// Of a kernel that has its own annotation inside the node of a forward op: which of that op's
  /// gradients it computes. Of one of a call for several gradients: which the function says that
  /// it runs under inside that call.
  std::optional<ops::GradientGuess> gradient = {};
  /// Outermost first; empty unless call_start_ns is known. Valid until the next Resolve().
  std::span<const OuterCall> outer = {};
  /// Keeps what this and the row point to.
  Epochs::Pin pin = {};
};

/// A row that waits for the other kernels of its op call, with all that its views point to.
struct WaitingRow {
  std::string line;
  RecordReader reader;
  KernelRecord record;
  PricedKernel row;
  Resolution resolution;
  int64_t number = 0;  ///< Its place in the order of the kernels, from 1.
  int64_t turn = 0;    ///< The same for rows of one call that follow each other on a stream.
  OpInstance* instance = nullptr;  ///< Null: of no call with a price, or one that is given away.
};

/// What of a call a row is charged: the backward of a forward op that it was linked to, else the
/// call itself, wherever it ran.
inline Direction PricedDirection(const WaitingRow& row) {
  return row.resolution.forward != nullptr ? Direction::kBackward : Direction::kForward;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_WAITING_ROW_H_
