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
#include "nvtx_annotate/torch/recent.h"

namespace oplens::annotate::torch {

/// The form of an operator, the same for common arguments, and its names for the emitter. What most
/// calls need comes first, in one line of the processor's cache.
struct alignas(64) KnownForm {
  PlainCall plain;
  LastingNames names;
  CallForm form;
};

/// Caches the forms of called operators by the address of their names, which the framework frees
/// when an operator is removed from the dispatcher; compares the text too. Lock-free; at most 8192
/// operators with overloads.
class FormCache {
 public:
  /// Has the framework count the operators that it removes, in what lives until the process ends.
  void WatchOperators(std::atomic<uint64_t>* removals) noexcept;
  /// Whether they are counted: an address means the same operator until then.
  bool watches() const { return watches_.load(std::memory_order_relaxed); }

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

  std::atomic<bool> watches_{false};
  std::atomic<const Entry*> slots_[kSlots] = {};
};

/// The forms of the operators that a thread called last, by the addresses of their names alone.
class RecentForms {
 public:
  struct Found {
    const KnownForm* known = nullptr;  ///< As FormCache::Find() has it.
    bool minor = false;                ///< KnownForm::form's.
  };

  /// `removals`: the count of FormCache::WatchOperators().
  Found Find(const at::RecordFunction& function, uint64_t removals, FormCache* all) {
    if (__builtin_expect(removals != removals_, 0)) {
      found_.Clear();
      removals_ = removals;
    }
    if (const Found* const found = found_.Find(function.name())) return *found;
    return FindAndKeep(function, all);
  }

 private:
  Found FindAndKeep(const at::RecordFunction& function, FormCache* all);

  Recent<Found, 128> found_;
  uint64_t removals_ = 0;  ///< When they were found.
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FORM_CACHE_H_
