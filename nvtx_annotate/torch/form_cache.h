#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_

#include <ATen/record_function.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/torch/call_form.h"

namespace oplens::annotate::torch {

/// The form of an operator, and its names for the emitter.
struct KnownForm {
  CallForm form;
  LastingNames names;
};

/// The forms of the operators that were called, by the address of their names, which the framework
/// keeps for ever; the text is compared too. Without locks; holds 8192 operators and their
/// overloads.
class FormCache {
 public:
  /// The form of an operator's call; null for a function that is no operator, and when the cache is
  /// full.
  const KnownForm* Find(const at::RecordFunction& function);

 private:
  struct Entry {
    const char* address;
    std::string name;
    KnownForm known;
  };
  static constexpr size_t kSlots = 16384;
  static constexpr size_t kMaxProbes = 64;

  std::atomic<const Entry*> slots_[kSlots] = {};
};

/// The form of a function that is no operator.
CallForm MakeFunctionForm(const at::RecordFunction& function);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_
