#ifndef OPLENS_NVTX_ANNOTATE_TORCH_CALL_ARGS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_CALL_ARGS_H_

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/payload.h"
#include "nvtx_annotate/torch/call_form.h"
#include "nvtx_annotate/vocabulary/direct_calls.h"

namespace oplens::annotate::torch {

/// Whether a tensor is a single number in host memory.
bool IsHostNumber(const at::TensorImpl& tensor);

/// The arguments of a call for the emitter. Borrows its inputs; lives on the stack, on the heap for
/// many arguments; neither reads nor references tensors. Consecutive equal members of a list of
/// tensors share one argument.
class CallArgs {
 public:
  // Uninitialised on purpose, for speed.
  CallArgs() noexcept {}  // NOLINT
  CallArgs(const CallArgs&) = delete;
  CallArgs& operator=(const CallArgs&) = delete;

  /// Throws std::bad_alloc.
  void Fill(const CallForm& form, c10::ArrayRef<const c10::IValue> inputs);

  /// Adds an argument, by keyword unless `name` is null. Both must outlive this object.
  void AddNamed(const char* name, const c10::IValue& value) { AddValue(name, value); }
  void AddText(const char* name, const char* text);

  const oplens_arg* data() const { return args_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kFewArgs = 32;
  static constexpr size_t kFewNumbers = 64;

  /// Memory for numbers, with stable addresses; `few` avoids allocations for small counts.
  template <typename T>
  T* Take(size_t count, T (&few)[kFewNumbers], size_t* used) {
    if (count <= kFewNumbers - *used) {
      *used += count;
      return few + *used - count;
    }
    return reinterpret_cast<T*>(more_.emplace_back(new unsigned char[count * sizeof(T)]).get());
  }

  void DropNone();
  void Add(const Parameter& parameter, const c10::IValue& value);
  void AddDType(const Parameter& parameter, const c10::IValue& value);
  void AddValue(const char* name, const c10::IValue& value);
  void AddSymbolic(const char* name, const c10::IValue& value);
  void AddTensor(const char* name, const at::TensorImpl& tensor, uint16_t list);
  bool IsLikeLast(const oplens_arg& arg) const;
  void AddList(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddTensors(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddInts(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddFloats(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddBools(const char* name, c10::ArrayRef<c10::IValue> list);
  void AddOther(const char* name, const char* type);
  void AddGroup();
  oplens_arg* Next(const char* name, uint16_t kind);
  void Grow();

  // Members that every call uses are adjacent.
  size_t size_ = 0;
  size_t room_ = kFewArgs;
  oplens_arg* args_ = few_;
  const c10::IValue* group_ = nullptr;  ///< An object that may be a process group.
  uint16_t lists_ = 0;
  size_t used_ints_ = 0;
  size_t used_floats_ = 0;
  size_t used_bools_ = 0;
  std::unique_ptr<oplens_arg[]> many_;
  std::vector<std::unique_ptr<unsigned char[]>> more_;
  oplens_arg few_[kFewArgs];
  int64_t ints_[kFewNumbers];
  double floats_[kFewNumbers];
  uint8_t bools_[kFewNumbers];
};

/// The arguments of one operator's calls, written into payloads at once: tensors, None, numbers and
/// tuples of integers, which nearly all calls have. What is written is what CallArgs gives to
/// EncodePayload().
class PlainCall {
 public:
  PlainCall() = default;
  /// Refers to names of `form`, which must stay where it is.
  explicit PlainCall(const CallForm& form);

  /// Whether the calls of the operator can be written, most of them.
  bool is_plain() const { return most_bytes_ > 0; }
  /// So long are their payloads at most.
  size_t most_bytes() const { return most_bytes_; }
  /// Writes the payload of a call, a PlainPayload; null if it has an argument of another kind.
  static unsigned char* Write(const markers::DirectPayload* payload, unsigned char* at);

 private:
  struct Argument {
    const char* name;
    uint32_t name_bytes;
    uint16_t input;
    Parameter::Use use;
  };

  std::vector<Argument> arguments_;
  size_t positional_ = 0;  ///< So many of them come first, and no other is.
  size_t inputs_ = 0;
  uint32_t most_bytes_ = 0;  ///< 0: not plain.
  bool drops_none_ = false;
};

/// A call that is written where the tool keeps it.
struct PlainPayload : markers::DirectPayload {
  /// `of.is_plain()`. All of them must outlive this object.
  PlainPayload(const PlainCall& of, c10::ArrayRef<const c10::IValue> all,
               const markers::CallFacts& known)
      : DirectPayload{0, of.most_bytes(), PlainCall::Write}, call(of), inputs(all), facts(known) {}

  const PlainCall& call;
  const c10::ArrayRef<const c10::IValue> inputs;
  const markers::CallFacts& facts;
  mutable bool failed = false;  ///< It has arguments that PlainCall does not know.
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_CALL_ARGS_H_
