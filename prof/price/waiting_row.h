#ifndef OPLENS_PROF_PRICE_WAITING_ROW_H_
#define OPLENS_PROF_PRICE_WAITING_ROW_H_

#include <cstdint>
#include <string>

#include "parse/model/kernel_record.h"
#include "prof/price/priced_kernel.h"
#include "prof/price/resolution.h"

namespace oplens::prof {

struct OpInstance;

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
