#ifndef OPLENS_NVTX_ANNOTATE_TORCH_RECENT_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_RECENT_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace oplens::annotate::torch {

/// What was looked up last by addresses, within one line of the processor's cache each: two values
/// whose addresses have the same line stay, and a third takes the place of the older one. For one
/// thread at a time.
template <typename Value, size_t kLines>
class Recent {
 public:
  /// Null: not among the last ones. Valid until the next Keep() or Forget().
  const Value* Find(const void* address) const noexcept {
    const Line& line = lines_[LineOf(address)];
    if (line.newer.address == address) return &line.newer.value;
    return line.older.address == address ? &line.older.value : nullptr;
  }
  /// `address`: not null, and not kept.
  void Keep(const void* address, const Value& value) noexcept {
    Line& line = lines_[LineOf(address)];
    line.older = line.newer;
    line.newer = {address, value};
  }
  void Forget(const void* address) noexcept {
    if (Find(address) != nullptr) lines_[LineOf(address)] = Line();
  }
  void Clear() noexcept { lines_ = {}; }

 private:
  struct Place {
    const void* address = nullptr;
    Value value = {};
  };
  struct alignas(64) Line {
    Place newer;
    Place older;
  };
  static_assert(sizeof(Line) == 64, "a look-up touches one line");
  static_assert((kLines & (kLines - 1)) == 0, "found by a mask");

  static size_t LineOf(const void* address) noexcept {
    const auto number = reinterpret_cast<uintptr_t>(address);
    return ((number >> 4) * 0x9e3779b97f4a7c15 >> 40) % kLines;
  }

  std::array<Line, kLines> lines_ = {};
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_RECENT_H_
