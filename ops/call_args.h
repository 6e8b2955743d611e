#ifndef OPLENS_OPS_CALL_ARGS_H_
#define OPLENS_OPS_CALL_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/dtype.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// Reads an operand: a tensor, or a number with the default type of its kind (annotations record
/// some 0-d tensors by value). An unrecorded or unknown type is DType::kUnknown. nullopt with
/// `*reason` for any other argument and for negative extents.
std::optional<Tensor> TensorOf(const OpArg& arg, Reason* reason);

/// Truth values count as numbers.
bool IsNumber(const OpArg& arg);
double NumberOf(const OpArg& arg);

/// Binds the arguments of a call to parameters as Python does: positional ones in order, then
/// keywords by name. `None` counts as absent. Reading a parameter of another kind than requested
/// makes the binding fail; the first reason is kept, so that a price function reads all it needs
/// and tests `failed()` once.
class CallArgs {
 public:
  /// `parameters`: names in order; "input|self" accepts both keywords. Excess positional arguments
  /// are a failure (kUnsupportedArgs), unknown keywords are ignored.
  CallArgs(const OpCall& call, std::initializer_list<std::string_view> parameters);

  /// nullptr when absent or None.
  const OpArg* Find(size_t parameter) const { return bound_[parameter]; }

  /// Returns an empty tensor and fails unless the parameter holds a tensor.
  Tensor RequireTensor(size_t parameter);
  /// nullopt when absent.
  std::optional<Tensor> FindTensor(size_t parameter);
  double NumberOr(size_t parameter, double absent);
  int64_t IntOr(size_t parameter, int64_t absent);
  bool BoolOr(size_t parameter, bool absent);
  /// An integer or a list of integers; nullopt when absent.
  std::optional<std::vector<int64_t>> FindInts(size_t parameter);
  /// A data type given as a string.
  DType DTypeOr(size_t parameter, DType absent);

  void Fail(Reason reason);
  bool failed() const { return reason_.has_value(); }
  Reason reason() const { return reason_.value_or(Reason::kUnsupportedArgs); }

 private:
  std::vector<const OpArg*> bound_;
  std::optional<Reason> reason_;
};

/// Index of a dimension, negative `dim` counted from the end; nullopt when out of range. As in
/// PyTorch, a 0-d tensor has the dimensions 0 and -1.
std::optional<size_t> DimIndex(int64_t dim, size_t rank);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_CALL_ARGS_H_
