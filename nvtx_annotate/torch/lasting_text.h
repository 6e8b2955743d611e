#ifndef OPLENS_NVTX_ANNOTATE_TORCH_LASTING_TEXT_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_LASTING_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace oplens::annotate::torch {

/// A text to compare others with, without a call for those of names.
class LastingText {
 public:
  /// `text` must live as long.
  explicit LastingText(std::string_view text) noexcept : text_(text) {
    if (text.size() >= kBytes) return;
    words_ = text.size() / sizeof(uint64_t) + 1;
    std::memcpy(copy_, text.data(), text.size());
  }
  LastingText() noexcept = default;

  /// `other` ends with a zero.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  bool Is(const char* other) const noexcept { return text_ == other; }
#else
  bool Is(const char* other) const noexcept {
    // Words may be read beyond the end of `other`, but not beyond its page.
    constexpr uintptr_t kPage = 4096;
    const bool is_within = (reinterpret_cast<uintptr_t>(other) & (kPage - 1)) <= kPage - kBytes;
    if (words_ == 0 || !is_within) return text_ == other;
    uint64_t word = 0;
    uint64_t mine = 0;
    size_t i = 0;
    for (; i + 1 < words_; ++i) {
      std::memcpy(&word, other + i * sizeof word, sizeof word);
      std::memcpy(&mine, copy_ + i * sizeof word, sizeof word);
      if (word != mine) return false;
    }
    // Of the last one what is up to the zero.
    std::memcpy(&word, other + i * sizeof word, sizeof word);
    std::memcpy(&mine, copy_ + i * sizeof word, sizeof word);
    const size_t beyond = 8 * (sizeof word - 1 - text_.size() % sizeof word);
    return (word ^ mine) << beyond == 0;
  }
#endif

 private:
  static constexpr size_t kBytes = 64;

  std::string_view text_;
  size_t words_ = 0;  ///< With the zero; 0: too long for `copy_`.
  char copy_[kBytes] = {};
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_LASTING_TEXT_H_
