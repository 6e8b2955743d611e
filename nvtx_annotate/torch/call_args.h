#ifndef OPLENS_NVTX_ANNOTATE_TORCH_CALL_ARGS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_CALL_ARGS_H_

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/torch/call_form.h"

namespace oplens::annotate::torch {

/// The arguments of one call as the emitter takes them. Borrows the inputs that it was filled from;
/// lives on the stack; no tensor is read, none is referenced.
class CallArgs {
 public:
  // Nothing is initialised that is not used.
  CallArgs() noexcept {}  // NOLINT
  CallArgs(const CallArgs&) = delete;
  CallArgs& operator=(const CallArgs&) = delete;

  /// What has no place is left out, from the end: more than the binary payload holds.
  void Fill(const CallForm& form, c10::ArrayRef<const c10::IValue> inputs);

  /// One more argument, by keyword unless that is null. `name` and `value` must outlive this.
  void AddNamed(const char* name, const c10::IValue& value) { AddValue(name, value); }
  void AddText(const char* name, const char* text);

  const oplens_arg* data() const { return args_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kMaxArgs = 256;
  static constexpr size_t kMaxListed = 256;  // One more than a payload's list holds.
  static constexpr size_t kMaxInts = 4 * kMaxListed;

  void Add(const Parameter& parameter, const c10::IValue& value);
  void AddDType(const Parameter& parameter, const c10::IValue& value);
  void AddValue(const char* name, const c10::IValue& value);
  void AddSymbolic(const char* name, const c10::IValue& value);
  void AddTensor(const char* name, const at::TensorImpl& tensor, uint16_t list);
  void AddList(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddTensors(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddInts(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddFloats(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddBools(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddOther(const char* name, const char* type);
  void AddGroup();
  oplens_arg* Next(const char* name, uint16_t kind);

  size_t size_ = 0;
  size_t ints_used_ = 0;
  size_t floats_used_ = 0;
  size_t bools_used_ = 0;
  uint16_t lists_ = 0;
  const c10::IValue* group_ = nullptr;  ///< An object: what may be a process group.
  oplens_arg args_[kMaxArgs];
  int64_t ints_[kMaxInts];
  double floats_[kMaxListed];
  uint8_t bools_[kMaxListed];
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_CALL_ARGS_H_
