#ifndef OPLENS_OPS_FAMILIES_RECURRENT_CALL_H_
#define OPLENS_OPS_FAMILIES_RECURRENT_CALL_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/checked.h"
#include "ops/dtype.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// The sizes of a recurrent layer, or of a stack of them, and of one call.
struct Recurrence {
  std::string_view kind;   ///< "LSTM", "GRU", "RNN"; of static storage.
  int64_t gates = 0;       ///< 4, 3, 1.
  bool cell = false;       ///< One step: the output is the new state.
  int64_t input = 0;       ///< I
  int64_t hidden = 0;      ///< H
  int64_t projection = 0;  ///< P: the size of the output in place of H; 0: none.
  int64_t layers = 1;
  int64_t directions = 1;
  bool bias = true;
  int64_t batch = 0;
  int64_t steps = 0;  ///< T; 0 when the sequences are packed.
  int64_t rows = 0;   ///< Of the input: T B, or the sum of the lengths.
  DType dtype = DType::kUnknown;
  DType weight_dtype = DType::kUnknown;

  int64_t output() const { return projection > 0 ? projection : hidden; }
  /// Pairs of a layer and a direction.
  Checked groups() const { return Checked(layers) * directions; }
};

/// Reads a call of a cell (lstm_cell, a class's forward), of lstm, gru, rnn_tanh, rnn_relu or
/// _cudnn_rnn. Sizes come from the arguments that tell them, or from the shapes of states and
/// weights; those that say different things are kShapeMismatch, too few kUnsupportedArgs. The
/// reason why the call cannot be priced, or nullopt.
std::optional<Reason> ReadRecurrence(std::string_view op, const OpCall& call, Recurrence* result);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_RECURRENT_CALL_H_
