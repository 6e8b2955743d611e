#include "parse/source/bracket_scan.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace oplens::parse {
namespace {

struct Masks {
  uint64_t quote = 0;
  uint64_t backslash = 0;
  uint64_t open = 0;
  uint64_t close = 0;
};

#ifdef __SSE2__
Masks MasksOf(const char* block) {
  Masks masks;
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + part * 16));
    // '[' and '{' differ in one bit only, and so do ']' and '}'.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const auto mask_of = [part](__m128i equal) {
      const auto bits = static_cast<uint32_t>(_mm_movemask_epi8(equal));
      return static_cast<uint64_t>(bits) << (part * 16);
    };
    masks.quote |= mask_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    masks.backslash |= mask_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    masks.open |= mask_of(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    masks.close |= mask_of(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  }
  return masks;
}
#else
Masks MasksOf(const char* block) {
  Masks masks;
  for (size_t i = 0; i < BracketScan::kBlockBytes; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    switch (block[i]) {
      case '"':
        masks.quote |= bit;
        break;
      case '\\':
        masks.backslash |= bit;
        break;
      case '{':
      case '[':
        masks.open |= bit;
        break;
      case '}':
      case ']':
        masks.close |= bit;
        break;
      default:
        break;
    }
  }
  return masks;
}
#endif

/// The number of ones, without a call as compilers make it for processors that may lack one.
int OnesOf(uint64_t bits) {
  bits -= (bits >> 1) & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333);
  bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return static_cast<int>(bits * 0x0101010101010101 >> 56);
}

/// Bit i of the result is set if bits 0 to i of `bits` have an odd number of ones.
uint64_t PrefixXor(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// Returns the bytes escaped by a backslash. `carry`: whether the last byte of the previous block,
/// on return of this one, escapes the next.
uint64_t EscapedBytes(uint64_t backslash, bool* carry) {
  uint64_t escaped = *carry ? 1 : 0;
  backslash &= ~escaped;
  *carry = false;
  while (backslash != 0) {
    const int at = __builtin_ctzll(backslash);
    if (at == 63) {
      *carry = true;
      break;
    }
    escaped |= uint64_t{1} << (at + 1);
    backslash &= ~(uint64_t{3} << at);
  }
  return escaped;
}

}  // namespace

size_t BracketScan::Next(const char* block) {
  Masks masks = MasksOf(block);
  if (masks.backslash != 0 || escape_) masks.quote &= ~EscapedBytes(masks.backslash, &escape_);
  const uint64_t strings = PrefixXor(masks.quote) ^ in_string_;
  in_string_ = (strings >> 63) != 0 ? ~uint64_t{0} : 0;
  const uint64_t open = masks.open & ~strings;
  const uint64_t close = masks.close & ~strings;
  // With too few closing brackets to end the value here, only their number matters.
  const int closed = OnesOf(close);
  if (closed < depth_) {
    depth_ += OnesOf(open) - closed;
    return 0;
  }
  for (uint64_t rest = open | close; rest != 0; rest &= rest - 1) {
    const int at = __builtin_ctzll(rest);
    if ((open >> at & 1) != 0) {
      ++depth_;
    } else if (--depth_ <= 0) {
      return static_cast<size_t>(at) + 1;
    }
  }
  return 0;
}

}  // namespace oplens::parse
