#ifndef OPLENS_OPS_FAMILIES_RECURRENT_ARGS_H_
#define OPLENS_OPS_FAMILIES_RECURRENT_ARGS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/tensor.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// The arguments of a recurrent call. Shapes point into the call.
struct RecurrentArgs {
  std::optional<Tensor> input;
  std::optional<Tensor> h, c;   ///< The states.
  std::vector<Tensor> weights;  ///< In PyTorch's list order, or those given by name.
  bool packed = false;          ///< Concatenated sequences: the input is [rows,I].
  std::optional<int64_t> layers, hidden, projection, mode;
  std::optional<bool> bias, bidirectional, batch_first;
  std::optional<Reason> error;  ///< Set if an argument is unreadable.
};

/// Reads lstm(input, hx.., params.., has_biases, num_layers, dropout, train, bidirectional,
/// batch_first), lstm(data, batch_sizes, hx.., params.., has_biases, ..) of packed sequences, and
/// the forward of modules and cells, f(input, hx..), possibly with the module itself first.
/// `states`: 2 for LSTM, otherwise 1.
RecurrentArgs ReadRecurrentArgs(const OpCall& call, int states, bool cell);

/// Reads _cudnn_rnn(input, weight.., weight_stride0, weight_buf, hx, cx, mode, hidden_size, ..).
RecurrentArgs ReadCudnnRnnArgs(const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_RECURRENT_ARGS_H_
