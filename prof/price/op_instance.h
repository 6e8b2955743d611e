#ifndef OPLENS_PROF_PRICE_OP_INSTANCE_H_
#define OPLENS_PROF_PRICE_OP_INSTANCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op_model.h"
#include "prof/price/call_key.h"
#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// The kernels of one op call that came so far.
struct OpInstance {
  const ops::PricedOp* price = nullptr;  ///< Lives as long as one of the rows waits.
  int64_t annotation_id = 0;             ///< Of the annotation that it is the price of.
  Direction direction = Direction::kForward;
  std::vector<WaitingRow*> rows;
  int64_t number = 0;       ///< Over all, from 1.
  size_t left = 0;          ///< Rows that wait.
  size_t products = 0;      ///< Matrix products among its rows; counted for backward calls.
  int64_t last_number = 0;  ///< Of its last row.
  bool closed = false;
  // Where it is found while it is open: one of these.
  std::optional<CallKey> key;
  std::optional<StreamKey> stream;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_OP_INSTANCE_H_
