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

/// The operand an argument holds: a tensor, or a number with the default type of its kind (a 0-d
/// tensor that was recorded as its value). A type that was not recorded or is not known is
/// DType::kUnknown. Fails with the reason for every other argument and for negative extents.
std::optional<Tensor> TensorOf(const OpArg& arg, Reason* reason);

/// Whether the argument is a number, a truth value included.
bool IsNumber(const OpArg& arg);
/// The value of a number.
double NumberOf(const OpArg& arg);

/// The arguments of a call by parameter, as Python binds them: positional ones in order, then
/// keywords by name. `None` counts as absent. Reading a parameter that does not hold what is asked
/// for makes the binding fail; the first reason is kept, so that a price function asks for all it
/// needs and tests once.
class CallArgs {
 public:
  /// `parameters`: names in order; "input|self" accepts both keywords. Positional arguments beyond
  /// them are a failure (kUnsupportedArgs), keywords beyond them are not.
  CallArgs(const OpCall& call, std::initializer_list<std::string_view> parameters);

  /// The argument of a parameter, nullptr when absent or None.
  const OpArg* Find(size_t parameter) const { return bound_[parameter]; }

  /// A required tensor; an empty one after a failure.
  Tensor RequireTensor(size_t parameter);
  /// A tensor or nothing.
  std::optional<Tensor> FindTensor(size_t parameter);
  /// A number, or `absent` when there is none.
  double NumberOr(size_t parameter, double absent);
  int64_t IntOr(size_t parameter, int64_t absent);
  bool BoolOr(size_t parameter, bool absent);
  /// An integer or a list of integers; nullopt when absent.
  std::optional<std::vector<int64_t>> FindInts(size_t parameter);
  /// A data type given as a string, or `absent`.
  DType DTypeOr(size_t parameter, DType absent);

  void Fail(Reason reason);
  bool failed() const { return reason_.has_value(); }
  Reason reason() const { return reason_.value_or(Reason::kUnsupportedArgs); }

 private:
  std::vector<const OpArg*> bound_;
  std::optional<Reason> reason_;
};

/// Index of the dimension, negative ones counted from the end; nullopt when out of range. A 0-d
/// tensor has the dimensions 0 and -1, as in PyTorch.
std::optional<size_t> DimIndex(int64_t dim, size_t rank);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_CALL_ARGS_H_
