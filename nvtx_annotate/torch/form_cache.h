#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_

#include <ATen/record_function.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/torch/call_args.h"
#include "nvtx_annotate/torch/call_form.h"

namespace oplens::annotate::torch {

/// The form of an operator, the same for common arguments, and its names for the emitter.
struct KnownForm {
  CallForm form;
  PlainCall plain;
  LastingNames names;
};

/// Caches the forms of called operators by the address of their names, which the framework never
/// frees; compares the text too. Lock-free; at most 8192 operators with overloads.
class FormCache {
 public:
  /// The form of an operator's call; null if the function is not an operator or the cache is full.
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

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_
