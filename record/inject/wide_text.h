#ifndef OPLENS_RECORD_INJECT_WIDE_TEXT_H_
#define OPLENS_RECORD_INJECT_WIDE_TEXT_H_

#include <cstddef>
#include <cstdint>

namespace oplens::record::inject {

/// Writes a wide character as UTF-8 into at most 4 bytes, U+FFFD if invalid; returns their number.
inline size_t WriteUtf8(wchar_t wide, char* out) noexcept {
  auto code = static_cast<uint32_t>(wide);
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  const size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = size - 1; i > 0; --i, code >>= 6) {
    out[i] = static_cast<char>(0x80 | (code & 0x3f));
  }
  constexpr uint32_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out[0] = static_cast<char>(kLead[size] | code);
  return size;
}

/// min(size, most); sets *cut if `size` is larger.
inline size_t CutBytes(size_t size, size_t most, bool* cut) noexcept {
  if (size <= most) return size;
  *cut = true;
  return most;
}

/// The UTF-8 size of a wide text, limited to whole characters within `most` bytes; sets *cut if
/// limited.
inline size_t Utf8Bytes(const wchar_t* text, size_t most, bool* cut) noexcept {
  char scratch[4];
  size_t bytes = 0;
  for (; *text != L'\0'; ++text) {
    const size_t size = WriteUtf8(*text, scratch);
    if (bytes + size > most) {
      *cut = true;
      break;
    }
    bytes += size;
  }
  return bytes;
}

/// Writes the first `bytes` bytes, as counted by Utf8Bytes.
inline void WriteUtf8(const wchar_t* text, size_t bytes, char* out) noexcept {
  char scratch[4];
  for (size_t done = 0; done < bytes; ++text) {
    const size_t size = WriteUtf8(*text, scratch);
    for (size_t i = 0; i < size; ++i) out[done + i] = scratch[i];
    done += size;
  }
}

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_WIDE_TEXT_H_
