#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_

#include <ATen/record_function.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  const KnownForm* Find(const at::RecordFunction& function) {
    const char* const name = function.name();
    const Entry* const known = slots_[SlotOf(name)].load(std::memory_order_acquire);
    return known != nullptr && known->Is(name) ? &known->known : FindOrAdd(function, name);
  }

 private:
  struct Entry {
    const char* address;
    std::string name;
    KnownForm known;

    bool Is(const char* other) const noexcept {
      return address == other && std::strcmp(name.c_str(), other) == 0;
    }
  };
  static constexpr size_t kSlots = 16384;
  static constexpr size_t kMaxProbes = 64;

  static size_t SlotOf(const char* address) noexcept {
    const auto number = reinterpret_cast<uintptr_t>(address);
    return ((number >> 4) * 0x9e3779b97f4a7c15 >> 40) % kSlots;
  }
  const KnownForm* FindOrAdd(const at::RecordFunction& function, const char* name);

  std::atomic<const Entry*> slots_[kSlots] = {};
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_
