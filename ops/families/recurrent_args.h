#ifndef OPLENS_OPS_FAMILIES_RECURRENT_ARGS_H_
#define OPLENS_OPS_FAMILIES_RECURRENT_ARGS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/tensor.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// The arguments of a recurrent call, sorted. Not copied: the shapes are the call's.
struct RecurrentArgs {
  std::optional<Tensor> input;
  std::optional<Tensor> h, c;   ///< The states.
  std::vector<Tensor> weights;  ///< In the order of PyTorch's list; or those given by name.
  bool packed = false;          ///< Sequences one after another: the input is [rows,I].
  std::optional<int64_t> layers, hidden, projection, mode;
  std::optional<bool> bias, bidirectional, batch_first;
  std::optional<Reason> error;  ///< Of an argument that cannot be read.
};

/// Reads lstm(input, hx.., params.., has_biases, num_layers, dropout, train, bidirectional,
/// batch_first), lstm(data, batch_sizes, hx.., params.., has_biases, ..) of packed sequences, and
/// the forward of modules and cells, f(input, hx..), where the module itself may come first.
/// `states`: 2 of an LSTM, else 1.
RecurrentArgs ReadRecurrentArgs(const OpCall& call, int states, bool cell);

/// Reads _cudnn_rnn(input, weight.., weight_stride0, weight_buf, hx, cx, mode, hidden_size, ..).
RecurrentArgs ReadCudnnRnnArgs(const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_RECURRENT_ARGS_H_
